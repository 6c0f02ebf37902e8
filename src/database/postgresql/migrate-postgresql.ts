import type { PoolClient } from "pg";
import { FormsvcError } from "../../foundation/errors.ts";
import type { Migration, MigrationStatus } from "../migrate.ts";
import { migrations } from "./migrations.generated.ts";
import type { PostgresqlDatabase } from "./open-postgresql.ts";

/** The lock under which one process at a time migrates a database. The number is ours and means nothing. */
const LOCK_SQL = "SELECT pg_advisory_xact_lock(7235461911)";

/** @throws database_unusable when the database is from a newer formsvc, or holds tables of somebody else. */
export function postgresqlMigrationStatus(db: PostgresqlDatabase): Promise<MigrationStatus> {
  return db.withConnection((client) => readStatus(client, db.name, migrations));
}

/**
 * Upgrades the database to this program's schema, in one transaction. Several processes may do it at once: the others wait and
 * find nothing to do.
 *
 * @returns the status from before.
 */
export function migratePostgresql(
  db: PostgresqlDatabase,
  known: readonly Migration[] = migrations,
): Promise<MigrationStatus> {
  return inLockedTransaction(db, "COMMIT", (client) => applyPending(client, db.name, known));
}

/** Does the same as {@link migratePostgresql} and rolls it back: the database is as it was. */
export function rehearsePostgresqlMigration(db: PostgresqlDatabase): Promise<MigrationStatus> {
  return inLockedTransaction(db, "ROLLBACK", (client) => applyPending(client, db.name, migrations));
}

function inLockedTransaction<Result>(
  db: PostgresqlDatabase,
  end: "COMMIT" | "ROLLBACK",
  work: (client: PoolClient) => Promise<Result>,
): Promise<Result> {
  return db.withConnection(async (client) => {
    await client.query("BEGIN");
    await client.query(LOCK_SQL);
    const result = await work(client);
    await client.query(end);
    return result;
  });
}

async function applyPending(
  client: PoolClient,
  shown: string,
  known: readonly Migration[],
): Promise<MigrationStatus> {
  const status = await readStatus(client, shown, known);
  if (status.pending.length === 0) return status;
  for (const migration of known) {
    if (migration.version > status.version) await client.query(migration.sql);
  }
  // So far no migration has ended the programs before it.
  await client.query(
    `INSERT INTO schema_version (version, oldest_program) VALUES ($1, $2)
       ON CONFLICT (id) DO UPDATE SET version = excluded.version`,
    [status.latest, known[0]?.version],
  );
  return status;
}

async function readStatus(
  client: PoolClient,
  shown: string,
  known: readonly Migration[],
): Promise<MigrationStatus> {
  const version = await readVersion(client, shown);
  const latest = known.at(-1)?.version ?? 0;
  if (version > latest) {
    throw new FormsvcError(
      "database_unusable",
      `${shown}: made by a newer formsvc (schema ${version}; this one knows ${latest}); install that version or newer`,
    );
  }
  const pending = known.filter((migration) => migration.version > version).map(({ name }) => name);
  return { version, latest, pending };
}

/** 0 for an empty database. */
async function readVersion(client: PoolClient, shown: string): Promise<number> {
  const { rows } = await client.query<{ name: string }>(
    "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = current_schema()",
  );
  if (rows.length === 0) return 0;
  if (!rows.some(({ name }) => name === "schema_version")) {
    throw new FormsvcError(
      "database_unusable",
      `${shown}: it holds tables of another program; give formsvc a database of its own`,
    );
  }
  const found = await client.query<{ version: number }>("SELECT version FROM schema_version");
  return found.rows[0]?.version ?? 0;
}
