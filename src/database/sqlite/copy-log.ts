import type { SqliteDatabase } from "./sqlite-database.ts";

/**
 * Bytes of files in the write-ahead log before they are copied into the file, which takes about 3 ms. Nothing of a file is written twice,
 * so the usual 16 MB of the log would hold up the posts of that moment for 25 ms, several times a second.
 */
const MAX_FILE_BYTES = 2_097_152;

/** Copies the log in small steps while files are stored. Call what it returns after each commit with a part of a file. */
export function createLogCopier(db: Pick<SqliteDatabase, "pragma">): (bytes: number) => void {
  let waiting = 0;
  return (bytes) => {
    waiting += bytes;
    if (waiting < MAX_FILE_BYTES) return;
    waiting = 0;
    try {
      db.pragma("wal_checkpoint(PASSIVE)");
    } catch {
      // The commit stands, and the log keeps it. SQLite itself copies the log later, and the next commit says what is wrong.
    }
  };
}
