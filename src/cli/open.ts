import { existsSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openMigrated, type OpenedDatabase } from "../app.ts";
import type { Config } from "../config/config.ts";
import { refuseForeignOwner } from "../config/foreign-owner.ts";
import { loadConfig, type LoadedConfig } from "../config/load-config.ts";
import { COMMAND_BUSY_TIMEOUT_MS } from "../database/sqlite/open-database.ts";
import type { SqliteDatabase } from "../database/sqlite/sqlite-database.ts";
import { migrate, type MigrationResult, migrationStatus } from "../database/migrate.ts";
import { lockServer } from "../database/sqlite/server-lock.ts";
import { type Clock, toIsoTime } from "../foundation/clock.ts";
import { FormsvcError } from "../foundation/errors.ts";
import type { CommandContext } from "./command.ts";

/** The configuration that a command shows or takes settings from; `--db` overrides everything. */
export function readSettings(context: CommandContext): Config {
  return nameDatabase(loadConfig(context.configFile).config, context);
}

/** The configuration of a command that uses the database. @throws as {@link loadForDatabase}. */
export function readConfig(context: CommandContext): Config {
  return loadForDatabase(context).config;
}

/**
 * The same, with where it comes from.
 *
 * @throws usage when root would use another user's database that nobody named, in the folder in which this runs.
 */
export function loadForDatabase(context: CommandContext): LoadedConfig {
  const loaded = loadConfig(context.configFile);
  const { config, variables } = loaded;
  const isNamed = context.databasePath !== null || variables.includes("FORMSVC_DATABASE_PATH");
  if (!isNamed && !isAbsolute(config.database.path)) refuseForeignOwner(config.database.path, "database");
  return { ...loaded, config: nameDatabase(config, context) };
}

function nameDatabase(config: Config, { databasePath }: CommandContext): Config {
  return databasePath === null ? config : { ...config, database: { path: databasePath } };
}

/**
 * The database of a configuration, brought up to date.
 *
 * @throws server_running if that would change the schema under a running server of an older version.
 */
export function openForCommand(config: Config, clock: Clock): OpenedDatabase {
  return openMigrated(config, COMMAND_BUSY_TIMEOUT_MS, (db) => upgradeUnserved(db, clock));
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

/** A server that wants to write tries again every 20 ms. */
const PAUSE_MS = 25;

/** A pause between two transactions of a command that makes many. */
export function letOthersWrite(): Promise<void> {
  return sleep(PAUSE_MS);
}

type Work<Result> = (db: SqliteDatabase, config: Config) => Result | Promise<Result>;

/**
 * Opens the database, brought up to date, for the length of `work`.
 *
 * @throws database_unusable if there is none: the path is mistyped, or the command runs in the wrong folder.
 */
export async function withDatabase<Result>(context: CommandContext, work: Work<Result>): Promise<Result> {
  const { path } = readConfig(context).database;
  if (!existsSync(path)) {
    throw new FormsvcError(
      "database_unusable",
      `${resolve(path)}: there is no database; name yours with --db, or make one with: formsvc init`,
    );
  }
  return withNewDatabase(context, work);
}

/** The same for commands that a new installation begins with: they create the database. */
export async function withNewDatabase<Result>(context: CommandContext, work: Work<Result>): Promise<Result> {
  const config = readConfig(context);
  const isNew = !existsSync(config.database.path);
  const { db, migrated } = openForCommand(config, context.clock);
  try {
    if (isNew) context.output.note(`made a new database: ${db.path}`);
    if (migrated.keptCopy !== null)
      context.output.note(`the database was upgraded; the one from before is ${migrated.keptCopy}`);
    return await work(db, config);
  } finally {
    db.close();
  }
}
