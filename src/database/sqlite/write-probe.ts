import { statSync } from "node:fs";
import { APPLICATION_ID } from "./file-owner.ts";
import type { Writability } from "../served-database.ts";
import type { SqliteDatabase } from "./sqlite-database.ts";

/** The shortest time between two probes, and between a commit and the next probe. */
const PROBE_INTERVAL_MS = 1000;
/**
 * If the write-ahead log is this long, a reader prevents it from beginning anew. Then no probe is written as long as writes succeed: one
 * page a second would be 350 MB a day.
 */
const LONG_LOG_BYTES = 67_108_864;

/** Knows from the last commit or probe whether a post can be stored. Writes a probe if there was neither in the last second. */
export function createWritability(db: SqliteDatabase): Writability {
  let reportedAt = -Infinity;
  let writable = true;
  const report = (worked: boolean): void => {
    reportedAt = performance.now();
    writable = worked;
  };
  return {
    report,
    isWritable() {
      const mayProbe = performance.now() - reportedAt >= PROBE_INTERVAL_MS;
      if (mayProbe && !(writable && hasLongLog(db))) report(canWrite(db));
      return writable;
    },
    awaitsStandby: () => false,
  };
}

/**
 * Commits one page with an fsync and changes nothing: SQLite writes the file's mark even if it is the same. An `UPDATE` to the same value
 * would write no page, and a full disk would stay unnoticed.
 *
 * @throws database_unusable, database_busy saying why nothing can be written now.
 */
export function proveWritable(db: SqliteDatabase): void {
  db.transactionNow(() => db.execute(`PRAGMA application_id = ${APPLICATION_ID}`));
}

function canWrite(db: SqliteDatabase): boolean {
  try {
    proveWritable(db);
    return true;
  } catch {
    return false;
  }
}

function hasLongLog({ path }: SqliteDatabase): boolean {
  const log = statSync(`${path}-wal`, { throwIfNoEntry: false });
  return log !== undefined && log.size >= LONG_LOG_BYTES;
}
