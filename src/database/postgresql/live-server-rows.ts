import type { PoolClient } from "pg";
import { LOST_MS } from "../live-servers.ts";
import { newerSchema } from "../newer-schema.ts";
import { version } from "../../foundation/version.ts";
import { WITH_LOCAL_COMMIT } from "./local-commit.ts";
import { migrations } from "./migrations.generated.ts";
import { HOUR_MS } from "../../foundation/time-units.ts";

/** A row is deleted after this time. */
const FORGOTTEN_MS = HOUR_MS;

/** The number of a lock in PostgreSQL: a process that migrates takes it alone, servers that join share it. The number has no meaning. */
export const MIGRATION_LOCK = 7_235_461_911;

/** The number of this program's last migration. */
export const OWN_SCHEMA: number = migrations.at(-1)?.version ?? 0;

/** The time by the clock of the database, in milliseconds since 1970 UTC. */
const NOW = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

/** The ids of live servers. */
export const LIVE_SQL = `SELECT id FROM live_server WHERE seen_at > ${NOW} - ${LOST_MS} ORDER BY id`;

const STAY_SQL = `${WITH_LOCAL_COMMIT} INSERT INTO live_server (id, program, schema_version, started_at, seen_at)
  SELECT $1, $2, $3::integer, ${NOW}, ${NOW} FROM settings ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at`;
const LEAVE_SQL = `${WITH_LOCAL_COMMIT} DELETE FROM live_server USING settings WHERE id = $1`;

/** Records that a server lives. */
export async function sayAlive(client: PoolClient, id: string): Promise<void> {
  await client.query(STAY_SQL, [id, version, OWN_SCHEMA]);
}

/**
 * Adds a server to the list. Waits while the database is being migrated.
 *
 * @param shown the name of the database in the message. @throws database_unusable if it was migrated beyond this program meanwhile.
 */
export async function join(client: PoolClient, id: string, shown: string): Promise<void> {
  await client.query("BEGIN ISOLATION LEVEL READ COMMITTED");
  await client.query(`SELECT pg_advisory_xact_lock_shared(${MIGRATION_LOCK})`);
  const { rows } = await client.query<{ oldest: number }>(
    "SELECT oldest_program AS oldest FROM schema_version",
  );
  const oldest = rows[0]?.oldest ?? 0;
  if (oldest > OWN_SCHEMA) throw newerSchema(shown, oldest, OWN_SCHEMA);
  await client.query(`DELETE FROM live_server WHERE seen_at < ${NOW} - ${FORGOTTEN_MS}`);
  await sayAlive(client, id);
  await client.query("COMMIT");
}

/** Removes a server from the list, so that others need not wait ten seconds to take over its work. */
export async function leave(client: PoolClient, id: string): Promise<void> {
  await client.query(LEAVE_SQL, [id]);
}

export interface LiveServerRow {
  readonly program: string;
  readonly schema: number;
  readonly since: number;
}

/** Lists the live servers, the oldest first. */
export async function readLiveServers(client: PoolClient): Promise<readonly LiveServerRow[]> {
  const { rows } = await client.query<LiveServerRow>(
    `SELECT program, schema_version AS schema, started_at AS since FROM live_server
       WHERE seen_at > ${NOW} - ${LOST_MS} ORDER BY started_at, id`,
  );
  return rows;
}
