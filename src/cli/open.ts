import { openMigrated } from "../app.ts";
import type { Config } from "../config/config.ts";
import { loadConfig } from "../config/load-config.ts";
import { COMMAND_BUSY_TIMEOUT_MS, type Database } from "../database/database.ts";
import type { CommandContext } from "./command.ts";

/** The configuration that a command works with; `--db` stands above everything. */
export function readConfig(context: CommandContext): Config {
  const { config } = loadConfig(context.configFile);
  return context.databasePath === null ? config : { ...config, database: { path: context.databasePath } };
}

/** Opens the database, brought up to date, for the length of `work`. */
export async function withDatabase<Result>(
  context: CommandContext,
  work: (db: Database, config: Config) => Result | Promise<Result>,
): Promise<Result> {
  const config = readConfig(context);
  const { db, migrated } = openMigrated(config, COMMAND_BUSY_TIMEOUT_MS);
  try {
    if (migrated.keptCopy !== null)
      context.output.note(`the database was upgraded; the one from before is ${migrated.keptCopy}`);
    return await work(db, config);
  } finally {
    db.close();
  }
}
