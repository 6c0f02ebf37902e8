import { FormsvcError } from "../../foundation/errors.ts";
import type { SqliteDatabase } from "./sqlite-database.ts";
import type { LogCleaner } from "../served-database.ts";
import type { LogCopier } from "./copy-log.ts";
import { hasLitestream } from "./litestream.ts";

/**
 * Copies the write-ahead log into the file and truncates it. Otherwise deleted content stays readable in the log, on a quiet
 * site for months. Writers wait as long as this waits for readers, at most for the connection's busy timeout.
 *
 * @returns false if the log stays as it is, because another process reads an older state of the database or locks it.
 */
export function emptyLog(db: SqliteDatabase): boolean {
  // Litestream expects to do this itself and would have to copy the whole file again.
  if (hasLitestream(db)) return false;
  try {
    return Number(db.pragma("wal_checkpoint(TRUNCATE)")) === 0;
  } catch (error) {
    if (error instanceof FormsvcError && error.code === "database_busy") return false;
    throw error;
  }
}

/** @param copier the part of the server that may be copying the log, which lets nobody else do so. */
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
