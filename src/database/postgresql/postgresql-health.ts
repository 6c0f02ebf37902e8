import { type Finding, problem, sound } from "../../foundation/finding.ts";
import { all, first, type Steps, text } from "../steps.ts";
import { postgresqlMigrationStatus } from "./migrate-postgresql.ts";
import type { PostgresqlDatabase } from "./open-postgresql.ts";

/** Clocks of servers may differ by this; ids and times of submissions come from them. */
const CLOCK_ALLOWANCE_MS = 2000;

/** Connecting has already proved that the settings for durable commits are in force. */
export function* checkPostgresqlDurability(): Steps<Finding> {
  const settings = yield* first(
    text<{ version: string; fsync: string; commit: string }>(
      `SELECT current_setting('server_version') AS version, current_setting('fsync') AS fsync,
         current_setting('synchronous_commit') AS "commit"`,
    ),
  );
  const { version = "", fsync = "", commit = "" } = settings ?? {};
  const mode = `PostgreSQL ${version}, fsync ${fsync}, synchronous_commit ${commit}`;
  return sound("database.durability", `${mode}; commits reach the disk`);
}

interface Standby {
  /** Null if this user may not see it. */
  readonly state: string | null;
}

/** What the loss of the machine that PostgreSQL runs on would take away. */
export function* checkStandbys(): Steps<Finding> {
  const named = yield* first(
    text<{ names: string }>("SELECT current_setting('synchronous_standby_names') AS names"),
  );
  const standbys = yield* all(text<Standby>("SELECT sync_state AS state FROM pg_stat_replication"));
  const name = "database.standby";
  if (standbys.some(({ state }) => state === null))
    return problem(
      name,
      "this user may not see whether standbys are synchronous",
      "GRANT pg_monitor TO the user",
    );
  if (standbys.some(({ state }) => state === "sync" || state === "quorum"))
    return sound(name, "a synchronous standby has every commit, so the loss of a machine loses nothing");
  if ((named?.names ?? "") !== "")
    return problem(
      name,
      "commits wait for a synchronous standby that is not there",
      "start it, or take it out of synchronous_standby_names",
    );
  return sound(
    name,
    `${standbys.length === 0 ? "no standby" : "no synchronous standby"}: the loss of PostgreSQL's machine loses what no backup or standby has yet`,
  );
}

export async function checkPostgresqlSchema(db: PostgresqlDatabase): Promise<Finding> {
  const { version, latest, pending } = await postgresqlMigrationStatus(db);
  if (pending.length === 0) return sound("database.schema", `version ${version} of ${latest}`);
  return problem("database.schema", `version ${version} of ${latest}`, { kind: "upgrade_database" });
}

/** @param now by this machine's clock. */
export function* checkDatabaseClock(now: number): Steps<Finding> {
  const clock = yield* first(
    text<{ now: number }>("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now"),
  );
  const apartMs = Math.abs((clock?.now ?? now) - now);
  const message = `${apartMs} ms apart from this machine's`;
  if (apartMs <= CLOCK_ALLOWANCE_MS) return sound("database.clock", message);
  return problem("database.clock", message, "let both machines take the time from the network");
}
