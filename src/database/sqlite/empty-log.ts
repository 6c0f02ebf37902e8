import { FormsvcError } from "../../foundation/errors.ts";
import type { SqliteDatabase } from "./sqlite-database.ts";
import { hasLitestream } from "./litestream.ts";

/**
 * Carries the write-ahead log over into the file and cuts it to nothing: what was deleted stays readable in it
 * otherwise, on a quiet site for months. Writers wait as long as this waits for readers, which is the connection's busy
 * timeout at most.
 *
 * @returns false where the log stays as it is, because another process reads an older state of the database or holds it.
 */
export function emptyLog(db: SqliteDatabase): boolean {
  // Litestream counts on carrying the log over itself and would have to copy the whole file again.
  if (hasLitestream(db)) return false;
  try {
    return Number(db.pragma("wal_checkpoint(TRUNCATE)")) === 0;
  } catch (error) {
    if (error instanceof FormsvcError && error.code === "database_busy") return false;
    throw error;
  }
}

/** Empties the log of a server after something was deleted, tried again until it succeeds. */
export interface LogCleaner {
  /** Told what was deleted, in rows. */
  note(deleted: number): void;
  /** Another process may have deleted something and been kept from emptying the log. */
  suspect(): void;
  /** Does nothing where nothing was deleted since the log was empty. */
  clean(): void;
}

export function createLogCleaner(db: SqliteDatabase): LogCleaner {
  // Whatever ran before may have been killed before it came to this.
  let holdsDeleted = true;
  return {
    note(deleted) {
      if (deleted > 0) holdsDeleted = true;
    },
    suspect() {
      holdsDeleted = true;
    },
    clean() {
      if (holdsDeleted) holdsDeleted = !emptyLog(db);
    },
  };
}
