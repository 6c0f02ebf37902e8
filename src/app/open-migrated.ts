import type { Config } from "../config/config.ts";
import { COMMAND_BUSY_TIMEOUT_MS, openDatabase } from "../database/sqlite/open-database.ts";
import type { SqliteDatabase } from "../database/sqlite/sqlite-database.ts";
import { migrate, type MigrationResult } from "../database/migrate.ts";

/** The database of a configuration, opened and brought up to date. */
export interface OpenedDatabase {
  readonly db: SqliteDatabase;
  readonly migrated: MigrationResult;
}

/**
 * Opens the database of a configuration and migrates it.
 *
 * @param busyTimeoutMs how long a statement waits for another process; everything else in this process waits too. Opening itself waits as
 * long as a command does, because another process may be migrating the same file.
 * @param upgrade migrates the database. The default is for the holder of the server's lock.
 */
export function openMigrated(
  config: Config,
  busyTimeoutMs: number,
  upgrade: (db: SqliteDatabase) => MigrationResult = migrate,
): OpenedDatabase {
  const db = openDatabase(config.database.path, { busyTimeoutMs: COMMAND_BUSY_TIMEOUT_MS });
  try {
    const migrated = upgrade(db);
    db.pragma(`busy_timeout = ${busyTimeoutMs}`);
    return { db, migrated };
  } catch (error) {
    db.close();
    throw error;
  }
}
