import Driver from "better-sqlite3";
import { FormsvcError } from "../../foundation/errors.ts";
import { translateDatabaseError } from "./database-error.ts";

/**
 * Notices that a disk failed to keep what was written to it. The system tells of a failed sync once, and may have dropped the pages: a later
 * sync that works proves nothing, also about earlier commits that had not been synced. So nothing may be done with the file any more
 * before its log was read again.
 */
export interface DiskLoss {
  /** Resolves with the error when a sync has failed. */
  readonly lost: Promise<FormsvcError>;
  /** @throws database_unusable if a sync has failed */
  refuse(): void;
  /** Translates an error of the driver, and looks whether it is that of a sync. */
  translate(error: unknown): unknown;
  /** Tells of a failed sync that was not SQLite's. */
  report(cause: unknown): void;
}

const SYNC_CODES = new Set(["SQLITE_IOERR_FSYNC", "SQLITE_IOERR_DIR_FSYNC"]);

export function createDiskLoss(path: string): DiskLoss {
  const { promise, resolve } = Promise.withResolvers<FormsvcError>();
  let failure: FormsvcError | null = null;
  const report = (cause: unknown): FormsvcError => {
    const what = "the disk failed to keep what was written; check it before anything else";
    const { code = "" } = cause as NodeJS.ErrnoException;
    failure ??= new FormsvcError("database_unusable", `${path}: ${what} (${code})`, {
      retryAfterSeconds: 5,
      cause,
    });
    resolve(failure);
    return failure;
  };
  return {
    lost: promise,
    refuse() {
      if (failure !== null) throw failure;
    },
    translate: (error) => (isOfSync(error) ? report(error) : translateDatabaseError(error, path)),
    report: (cause) => void report(cause),
  };
}

function isOfSync(error: unknown): boolean {
  return error instanceof Driver.SqliteError && SYNC_CODES.has(error.code);
}
