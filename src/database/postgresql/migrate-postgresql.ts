import type { PoolClient } from "pg";
import { FormsvcError } from "../../foundation/errors.ts";
import type { Migration, MigrationStatus } from "../migrate.ts";
import { newerSchema } from "../newer-schema.ts";
import { MIGRATION_LOCK, readLiveServers } from "./live-server-rows.ts";
import { migrations } from "./migrations.generated.ts";
import type { PostgresqlDatabase } from "./open-postgresql.ts";

/** @throws database_unusable if the database is from a newer formsvc, or has tables of another program. */
export function postgresqlMigrationStatus(db: PostgresqlDatabase): Promise<MigrationStatus> {
  return db.withConnection((client) => readStatus(client, db.name, migrations));
}

export interface MigrationChoices {
  readonly known: readonly Migration[];
  /**
   * Whether to migrate although servers that know the earlier tables are running. It is refused if they cannot work with the new tables.
   */
  readonly besideServers: boolean;
}

/**
 * Upgrades the database to this program's schema, in one transaction. Several processes may do this at the same time: the others wait and
 * then find nothing to do.
 *
 * @returns the status from before. @throws server_running if servers of an older version prevent it.
 */
export function migratePostgresql(
  db: PostgresqlDatabase,
  { known = migrations, besideServers = false }: Partial<MigrationChoices> = {},
): Promise<MigrationStatus> {
  return inLockedTransaction(db, "COMMIT", (client) =>
    applyPending(client, db.name, { known, besideServers }),
  );
}

/** Runs {@link migratePostgresql} and rolls it back, so that the database stays as it was. */
export function rehearsePostgresqlMigration(db: PostgresqlDatabase): Promise<MigrationStatus> {
  return inLockedTransaction(db, "ROLLBACK", (client) =>
    applyPending(client, db.name, { known: migrations, besideServers: true }),
  );
}

/** Runs `work` in a transaction under the lock of migrations. The transaction is rolled back if `work` throws. */
export function inLockedTransaction<Result>(
  db: PostgresqlDatabase,
  end: "COMMIT" | "ROLLBACK",
  work: (client: PoolClient) => Promise<Result>,
): Promise<Result> {
  return db.withConnection(async (client) => {
    await client.query("BEGIN");
    await client.query(`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`);
    const result = await work(client);
    await client.query(end);
    return result;
  });
}

async function applyPending(
  client: PoolClient,
  shown: string,
  { known, besideServers }: MigrationChoices,
): Promise<MigrationStatus> {
  const status = await readStatus(client, shown, known);
  if (status.pending.length === 0) return status;
  const servers = status.version < LIVE_SERVERS_SINCE ? [] : await readLiveServers(client);
  if (servers.length > 0 && !besideServers) throw migrateFirst(shown, status.version);
  for (const { version, sql } of known) {
    if (version <= status.version) continue;
    await client.query(sql);
    // A migration after which earlier programs cannot work says so itself: UPDATE schema_version SET oldest_program = its own number.
    await client.query(VERSION_SQL, [version]);
  }
  const { rows } = await client.query<{ oldest: number }>(
    "SELECT oldest_program AS oldest FROM schema_version",
  );
  const oldest = rows[0]?.oldest ?? 0;
  const ended = servers.filter(({ schema }) => schema < oldest).map(({ program }) => program);
  if (ended.length > 0) throw stopFirst(shown, ended);
  return status;
}

/** The schema version that added the list of servers. */
const LIVE_SERVERS_SINCE = 18;

const VERSION_SQL = `INSERT INTO schema_version (version, oldest_program) VALUES ($1, $1)
  ON CONFLICT (id) DO UPDATE SET version = excluded.version`;

function migrateFirst(shown: string, version: number): FormsvcError {
  return new FormsvcError(
    "server_running",
    `${shown}: servers run on it, and its tables are of an older version (schema ${version})`,
    { hint: { kind: "migrate_beside_servers" } },
  );
}

function stopFirst(shown: string, programs: readonly string[]): FormsvcError {
  return new FormsvcError(
    "server_running",
    `${shown}: servers run on it that cannot go on with the new tables (${[...new Set(programs)].join(", ")})`,
    { hint: { kind: "stop_older_servers" } },
  );
}

async function readStatus(
  client: PoolClient,
  shown: string,
  known: readonly Migration[],
): Promise<MigrationStatus> {
  const { version, oldest } = await readVersion(client, shown);
  const latest = known.at(-1)?.version ?? 0;
  // Earlier programs can work with a newer schema, because migrations only add; one that does more raises `oldest`.
  if (oldest > latest) throw newerSchema(shown, version, latest);
  const pending = known.filter((migration) => migration.version > version).map(({ name }) => name);
  return { version, latest, pending };
}

interface FoundVersion {
  /** The version of the schema; 0 for an empty database. */
  readonly version: number;
  /** The schema of the oldest program that can work with the database. */
  readonly oldest: number;
}

const EMPTY: FoundVersion = { version: 0, oldest: 0 };

async function readVersion(client: PoolClient, shown: string): Promise<FoundVersion> {
  const { rows } = await client.query<{ name: string }>(
    "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = current_schema()",
  );
  if (rows.length === 0) return EMPTY;
  if (!rows.some(({ name }) => name === "schema_version")) {
    throw new FormsvcError(
      "database_unusable",
      `${shown}: it holds tables of another program; give formsvc a database of its own`,
    );
  }
  const found = await client.query<FoundVersion>(
    "SELECT version, oldest_program AS oldest FROM schema_version",
  );
  return found.rows[0] ?? EMPTY;
}
