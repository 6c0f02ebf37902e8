import type { AnyDatabase } from "../database/any-database.ts";
import { existsSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openMigrated } from "../app/open-migrated.ts";
import { openObjects } from "../app/open-objects.ts";
import type { Config } from "../config/config.ts";
import { describeNames } from "../config/database-names.ts";
import { refuseForeignOwner } from "../config/foreign-owner.ts";
import { loadConfig, type LoadedConfig } from "../config/load-config.ts";
import { isDatabaseAddress, parseDatabaseAddress } from "../database/postgresql/address.ts";
import type { PostgresqlDatabase } from "../database/postgresql/open-postgresql.ts";
import { COMMAND_BUSY_TIMEOUT_MS } from "../database/sqlite/open-database.ts";
import { removeUnused } from "../database/sqlite/remove-unused.ts";
import type { SqliteDatabase } from "../database/sqlite/sqlite-database.ts";
import { migrate, type MigrationResult, migrationStatus } from "../database/migrate.ts";
import { isServed, lockServer } from "../database/sqlite/server-lock.ts";
import { type Clock, toIsoTime } from "../foundation/clock.ts";
import { FormsvcError } from "../foundation/errors.ts";
import type { MaybeLater } from "../foundation/maybe-later.ts";
import type { ChosenServer } from "./remote/choose-server.ts";
import type { CommandContext } from "./command.ts";

/** The configuration for a command that shows it or reads settings from it. `--db` overrides the configured database. */
export function readSettings(context: CommandContext): Config {
  requireHere(context);
  const loaded = loadConfig(context.configFile);
  noteChoice(loaded, context);
  return nameDatabase(loaded.config, context);
}

/** The configuration of a command that uses the database. @throws the errors of {@link loadForDatabase} */
export function readConfig(context: CommandContext): Config {
  return loadForDatabase(context).config;
}

/**
 * The same configuration as {@link readConfig}, with the file and the environment variables that it was read from.
 *
 * @throws usage if root would use another user's database in the current folder that nobody named, or if a server was chosen
 */
export function loadForDatabase(context: CommandContext): LoadedConfig {
  requireHere(context);
  const loaded = loadConfig(context.configFile);
  const { config, variables } = loaded;
  const isNamed = context.databasePath !== null || variables.includes("FORMSVC_DATABASE_PATH");
  if (!isNamed && config.database.url === null && !isAbsolute(config.database.path))
    refuseForeignOwner(config.database.path, "database");
  noteChoice(loaded, context);
  return { ...loaded, config: nameDatabase(config, context) };
}

/** @throws usage if a server was chosen, naming the server on whose machine the command must run */
function requireHere({ server }: CommandContext): void {
  if (server !== null) throw doneBeside(server);
}

export function doneBeside({ origin }: Pick<ChosenServer, "origin">): FormsvcError {
  const why = "this works on the database and the files of a machine, and not at a distance";
  const instead = "or name a database of this machine with --db";
  return new FormsvcError("usage", `${why}: run it on the machine of ${origin}, ${instead}`);
}

/** The outputs of commands that have printed the note already. Some commands read the configuration several times. */
const noted = new WeakSet<CommandContext["output"]>();

/**
 * Notes which database is used if it is named as a file in one place and as an address in another, because that is easily the wrong one.
 */
function noteChoice({ config, databaseNames }: LoadedConfig, { databasePath, output }: CommandContext): void {
  const isAddress = databasePath === null ? config.database.url !== null : isDatabaseAddress(databasePath);
  const by = databasePath === null ? undefined : "--db";
  const note = describeNames(databaseNames, isAddress ? "url" : "path", by);
  if (note === null || noted.has(output)) return;
  noted.add(output);
  output.note(note);
}

/** The configuration with the file or address that `--db` names. The configured one is then not used. */
function nameDatabase(config: Config, { databasePath: named }: CommandContext): Config {
  if (named === null) return config;
  if (isDatabaseAddress(named)) return { ...config, database: { ...config.database, url: named } };
  return { ...config, database: { ...config.database, path: named, url: null } };
}

/** The name of an unopened database for messages: the absolute path, or the address without its password. */
export function nameOf({ path, url }: Config["database"]): string {
  return url === null ? resolve(path) : parseDatabaseAddress(url).shown;
}

/** The file of a command that works on a file. @throws usage if the configuration names a PostgreSQL database */
export function requireFile({ path, url }: Config["database"], instead: string): string {
  if (url === null) return path;
  throw new FormsvcError("usage", `${parseDatabaseAddress(url).shown}: this is no file; ${instead}`);
}

interface OpenedDatabase {
  readonly db: AnyDatabase;
  readonly migrated: MigrationResult;
}

interface OpeningChoices {
  /** Whether a missing database is created: the file, or the tables in an empty PostgreSQL database. */
  readonly makes: boolean;
  /** Whether a PostgreSQL database is migrated while compatible servers of an older version run. */
  readonly besideServers?: boolean;
  /** Called with a message for a person who waits. */
  readonly note?: (text: string) => void;
}

const SLOW_COMMIT =
  "PostgreSQL has not confirmed the change yet: a synchronous standby may be missing, which formsvc doctor says; " +
  "if you end this command now, the change may be made all the same";

/**
 * Opens and migrates the database of a configuration.
 *
 * @throws database_unusable if it is missing and not created; server_running if that would change the schema under a running server of an
 * older version
 */
export async function openForCommand(
  config: Config,
  clock: Clock,
  { makes, besideServers = false, note = () => undefined }: OpeningChoices,
): Promise<OpenedDatabase> {
  const { path, url } = config.database;
  if (url === null) {
    if (!makes && !existsSync(path)) refuseMissing(config.database, "there is no database");
    return openMigrated(config, COMMAND_BUSY_TIMEOUT_MS, (db) => upgradeUnserved(db, clock));
  }
  const db = await openAddress(url, () => note(SLOW_COMMIT));
  try {
    const { migratePostgresql, postgresqlMigrationStatus } =
      await import("../database/postgresql/migrate-postgresql.ts");
    if (!makes && (await postgresqlMigrationStatus(db)).version === 0)
      refuseMissing(config.database, "there are no tables of formsvc's in it");
    return { db, migrated: { ...(await migratePostgresql(db, { besideServers })), keptCopy: null } };
  } catch (error) {
    await db.close();
    throw error;
  }
}

function refuseMissing(database: Config["database"], what: string): never {
  throw new FormsvcError(
    "database_unusable",
    `${nameOf(database)}: ${what}; name yours with --db, or make one with: formsvc init`,
  );
}

/** Connects to a PostgreSQL database, whatever its schema. A server on a file loads none of this code. */
export async function openAddress(url: string, onSlowCommit?: () => void): Promise<PostgresqlDatabase> {
  const { COMMAND_OPTIONS, openPostgresql } = await import("../database/postgresql/open-postgresql.ts");
  return openPostgresql(
    url,
    onSlowCommit === undefined ? COMMAND_OPTIONS : { ...COMMAND_OPTIONS, onSlowCommit },
  );
}

function upgradeUnserved(db: SqliteDatabase, clock: Clock): MigrationResult {
  const { version, pending } = migrationStatus(db);
  // A new file has no server of an older version.
  if (version === 0 || pending.length === 0) return migrate(db);
  const startedAt = toIsoTime(clock.now());
  const lock = lockServer(db.path, process.pid, startedAt, { kind: "restart_older_server" });
  try {
    return migrate(db);
  } finally {
    lock.release();
  }
}

/** Longer than the 20 ms after which a server that wants to write tries again. */
const PAUSE_MS = 25;

/** Pauses between two transactions of a command that makes many. It does not pause if no server can be waiting to write to the file. */
export async function letOthersWrite(db: AnyDatabase): Promise<void> {
  if (!("path" in db) || isServed(db.path)) await sleep(PAUSE_MS);
}

type Work<Result> = (db: AnyDatabase, config: Config) => MaybeLater<Result>;

/**
 * Opens the migrated database for the length of `work`.
 *
 * @throws database_unusable if there is none: the path is mistyped, or the command runs in the wrong folder
 */
export function withDatabase<Result>(context: CommandContext, work: Work<Result>): Promise<Result> {
  return withOpened(context, work, { makes: false });
}

/** Like {@link withDatabase}, but creates a missing database: for commands that a new installation begins with. */
export function withNewDatabase<Result>(context: CommandContext, work: Work<Result>): Promise<Result> {
  return withOpened(context, work, { makes: true });
}

async function withOpened<Result>(
  context: CommandContext,
  work: Work<Result>,
  { makes }: Pick<OpeningChoices, "makes">,
): Promise<Result> {
  const config = readConfig(context);
  const note = (text: string): void => context.output.note(text);
  const { db, migrated } = await openForCommand(config, context.clock, { makes, note });
  openObjects({ db, config });
  const isNew = migrated.version === 0;
  let isRefused = false;
  try {
    if (isNew) note(`made a new database: ${db.name}`);
    if (migrated.keptCopy !== null)
      note(`the database was upgraded; the one from before is ${migrated.keptCopy}`);
    return await work(db, config);
  } catch (error) {
    isRefused = true;
    throw error;
  } finally {
    await closeAgain(db, isNew && isRefused ? note : null);
  }
}

/** @param note null keeps the database; else the database is new, is removed if nothing was stored in it, and `note` says so */
async function closeAgain(db: AnyDatabase, note: ((text: string) => void) | null): Promise<void> {
  if ("path" in db) {
    db.close();
    if (note !== null && removeUnused(db.path)) note("nothing was stored in it, and it is removed again");
    return;
  }
  const isRemoved = note !== null && (await removeTables(db));
  await db.close();
  if (isRemoved) note("nothing was stored in it, and its tables are removed again");
}

async function removeTables(db: PostgresqlDatabase): Promise<boolean> {
  const { removeUnusedTables } = await import("../database/postgresql/remove-unused-tables.ts");
  return removeUnusedTables(db);
}
