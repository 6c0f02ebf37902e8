import { statSync } from "node:fs";
import { FormsvcError } from "../../foundation/errors.ts";
import type { SqliteDatabase } from "./sqlite-database.ts";
import type { LogCleaner } from "../served-database.ts";
import type { LogCopier } from "./copy-log.ts";
import { hasLitestream } from "./litestream.ts";
import { COMMAND_BUSY_TIMEOUT_MS } from "./open-database.ts";

/**
 * Copies the write-ahead log into the file and truncates it. Otherwise deleted content stays readable in the log, for months if there are
 * few posts. Writers wait while this waits for readers, at most for the busy timeout of the connection.
 *
 * @returns false if the log stays as it is, because another process reads an older state of the database or locks it.
 */
export function emptyLog(db: SqliteDatabase): boolean {
  // Litestream does this itself; otherwise it would have to copy the whole file again.
  if (hasLitestream(db)) return false;
  try {
    return Number(db.pragma("wal_checkpoint(TRUNCATE)")) === 0;
  } catch (error) {
    if (error instanceof FormsvcError && error.code === "database_busy") return false;
    throw error;
  }
}

/** The longest wait for a reader that keeps the log from being emptied. */
const EMPTYING_MS = 1000;

/**
 * Copies what an ended server left in the log into the file, durably, and begins the log anew: if that server's disk failed to keep what
 * was written, frames of the log may be in memory alone, and what is stored behind them would be lost with them at a power loss. Litestream
 * decides itself when the log begins anew.
 *
 * @throws database_unusable if the disk fails again
 */
export function emptyLeftLog(db: SqliteDatabase): void {
  if ((statSync(`${db.path}-wal`, { throwIfNoEntry: false })?.size ?? 0) === 0) return;
  db.pragma(`busy_timeout = ${EMPTYING_MS}`);
  emptyLog(db);

  db.pragma(`busy_timeout = ${COMMAND_BUSY_TIMEOUT_MS}`);
}

/** @param copier waits for a running copy of the log, during which nobody else can copy it. */
export function createLogCleaner(db: SqliteDatabase, copier: Pick<LogCopier, "settle">): LogCleaner {
  // An earlier process may have been killed before it emptied the log.
  let holdsDeleted = true;
  return {
    note(deleted) {
      if (deleted > 0) holdsDeleted = true;
    },
    suspect() {
      holdsDeleted = true;
    },
    clean() {
      if (!holdsDeleted) return;
      copier.settle();
      holdsDeleted = !emptyLog(db);
    },
  };
}
