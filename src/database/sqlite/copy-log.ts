import type { SqliteDatabase } from "./sqlite-database.ts";

/**
 * Bytes of files in the write-ahead log before they are copied into the file, which takes about 3 ms. Nothing of a file is written twice,
 * so the usual 16 MB of the log would hold up the posts of that moment for 25 ms, several times a second.
 */
const MAX_FILE_BYTES = 2_097_152;

/**
 * Copies the log in small steps while files are stored beside other posts. If none comes, SQLite copies it as ever: each copy waits for
 * the disk three times, and with small steps an upload took half as long again.
 */
export interface LogCopier {
  /**
   * Call it after each commit with a part of a file.
   *
   * @param besidePosts whether there were posts in it. They are answered before the log is copied.
   */
  (bytes: number, besidePosts: boolean): void;
}

export function createLogCopier(db: Pick<SqliteDatabase, "pragma">): LogCopier {
  let waiting = 0;
  const copy = (): void => {
    try {
      db.pragma("wal_checkpoint(PASSIVE)");
    } catch {
      // The commits stand, and the log keeps them. SQLite itself copies the log later, and the next commit says what is wrong.
    }
  };
  return (bytes, besidePosts) => {
    waiting += bytes;
    if (!besidePosts || waiting < MAX_FILE_BYTES) return;
    waiting = 0;
    setImmediate(copy);
  };
}
