import { type Finding, problem, sound } from "../../foundation/finding.ts";
import { listNames } from "../../foundation/list-names.ts";
import { COPIED_TABLES } from "../copy-tables.ts";
import { all, first, type Steps, text } from "../steps.ts";
import { readLiveServers } from "./live-server-rows.ts";
import { postgresqlMigrationStatus } from "./migrate-postgresql.ts";
import type { PostgresqlDatabase } from "./open-postgresql.ts";
import { readStandbys } from "./standbys.ts";

/** VACUUM may be behind by this number of transactions. PostgreSQL takes urgent measures at 1,600 million, and stops at 2,100 million. */
const LARGE_AGE = 1_000_000_000;
/** A working standby never takes this long to answer. */
const LONG_WAIT_MS = 3000;
/** The clocks of servers may differ by this much. The ids and times of submissions come from them. */
const CLOCK_ALLOWANCE_MS = 2000;

/** The finding is always sound: connecting has already checked the settings for durable commits. */
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

/** Reports what would be lost if the machine of PostgreSQL were lost. */
export function* checkStandbys(): Steps<Finding> {
  const name = "database.standby";
  const { areAwaited, count, synchronous, waitMs } = yield* readStandbys();
  const remedy = "start it, or take it out of synchronous_standby_names";
  if (waitMs !== null && waitMs >= LONG_WAIT_MS)
    return problem(
      name,
      `a commit has waited ${Math.round(waitMs / 1000)} s for a synchronous standby that does not answer`,
      remedy,
    );
  if (synchronous === null)
    return problem(
      name,
      "this user may not see whether standbys are synchronous",
      "GRANT pg_monitor TO the user",
    );
  if (synchronous > 0)
    return sound(name, "a synchronous standby has every commit, so the loss of a machine loses nothing");
  if (areAwaited) return problem(name, "commits wait for a synchronous standby that is not there", remedy);
  const which = count === 0 ? "no standby" : "no synchronous standby";
  return sound(name, `${which}: the loss of PostgreSQL's machine loses what no backup or standby has yet`);
}

export async function checkPostgresqlSchema(db: PostgresqlDatabase): Promise<Finding> {
  const { version, latest, pending } = await postgresqlMigrationStatus(db);
  if (version === 0)
    return problem(
      "database.schema",
      "there are no tables of formsvc's in it",
      "begin a new installation with init, or bring your database with copy",
    );
  if (pending.length === 0) return sound("database.schema", `version ${version} of ${latest}`);
  return problem("database.schema", `version ${version} of ${latest}`, { kind: "upgrade_database" });
}

const TABLES: readonly string[] = [...COPIED_TABLES, "schema_version", "live_server", "rate_window"];
const MAX_NAMED = 5;
const RIGHTS = ["SELECT", "INSERT", "UPDATE", "DELETE"];

const mayAll = RIGHTS.map((right) => `has_table_privilege(to_regclass(name), '${right}')`).join(" AND ");
const UNUSABLE_SQL = `SELECT name, to_regclass(name) IS NULL AS is_missing FROM json_array_elements_text(?::json) AS name
  WHERE to_regclass(name) IS NULL OR NOT (${mayAll})`;

/** Checks the rights of the user: servers and commands read and write every table. */
export function* checkRights(): Steps<Finding> {
  const name = "database.rights";
  const unusable = yield* all(
    text<{ name: string; is_missing: boolean }>(UNUSABLE_SQL, JSON.stringify(TABLES)),
  );
  const missing = unusable.filter(({ is_missing: isMissing }) => isMissing);
  if (missing.length > 0)
    return problem(name, `missing: ${namesOf(missing)}`, "restore the database from a backup");
  if (unusable.length > 0)
    return problem(
      name,
      `this user may not read and write ${namesOf(unusable)}`,
      "make it the owner, or: GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO the user",
    );
  return sound(name, "this user may read and write every table");
}

function namesOf(tables: readonly { readonly name: string }[]): string {
  return listNames(tables, MAX_NAMED, ({ name }) => name);
}

/** @param now the time by the clock of this machine. */
export function* checkDatabaseClock(now: number): Steps<Finding> {
  const clock = yield* first(
    text<{ now: number }>("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now"),
  );
  const apartMs = Math.abs((clock?.now ?? now) - now);
  const message = `${apartMs} ms apart from this machine's`;
  if (apartMs <= CLOCK_ALLOWANCE_MS) return sound("database.clock", message);
  return problem("database.clock", message, "let both machines take the time from the network");
}

/** Lists the servers that share the database. If they run two versions of the program, an upgrade is not finished. */
export async function checkServers(db: PostgresqlDatabase): Promise<Finding> {
  const name = "database.servers";
  const servers = await db.withConnection(readLiveServers);
  if (servers.length === 0) return sound(name, "no server works on it");
  const counted = Map.groupBy(servers, ({ program, schema }) => `${program}, schema ${schema}`);
  const message = [...counted].map(([program, same]) => `${same.length} of ${program}`).join("; ");
  if (counted.size === 1) return sound(name, `servers: ${message}`);
  return problem(name, `servers: ${message}`, "restart those of the older version with the newer one");
}

/** Reports neglected maintenance, which in the end stops PostgreSQL or fills its disk. */
export function* checkUpkeep(): Steps<Finding[]> {
  const name = "database.upkeep";
  const slots = yield* all(
    text<{ name: string }>(
      "SELECT slot_name AS name FROM pg_replication_slots WHERE NOT active ORDER BY slot_name",
    ),
  );
  const age = yield* first(
    text<{ age: number }>(
      "SELECT age(datfrozenxid) AS age FROM pg_database WHERE datname = current_database()",
    ),
  );
  const unused = slots.map(({ name: slot }) =>
    problem(
      name,
      `nobody reads the replication slot ${slot}, and PostgreSQL keeps its log for it`,
      `start its standby, or: SELECT pg_drop_replication_slot('${slot}')`,
    ),
  );
  const transactions = age?.age ?? 0;
  if (transactions >= LARGE_AGE)
    return [
      ...unused,
      problem(name, `VACUUM is ${transactions} transactions behind`, "look why autovacuum does not run"),
    ];
  return unused.length > 0
    ? unused
    : [sound(name, `no unused slot; VACUUM is ${transactions} transactions behind`)];
}
