import type Driver from "better-sqlite3";
import { FormsvcError } from "../../foundation/errors.ts";
import { translateDatabaseError } from "./database-error.ts";
import { createCopySync } from "./sync-copy.ts";

export interface CopyProgress {
  readonly copiedPages: number;
  readonly totalPages: number;
}

/**
 * The number of pages copied in one turn of the event loop. On two cores under full load with 800 MB, 20 pages left three quarters of the
 * throughput, 100 pages a third.
 */
const COPY_PAGES_A_TURN = 20;
/** The largest number of restarts: each commit of another process makes the copy start again. */
const MAX_COPY_RESTARTS = 5;

/** See {@link SqliteDatabase.copyTo}. */
export async function copyDatabase(
  connection: Driver.Database,
  path: string,
  file: string,
  onProgress: (progress: CopyProgress) => void,
): Promise<void> {
  const sync = createCopySync(file);
  let before = 0;
  let restarts = 0;
  const progress = ({ totalPages, remainingPages }: Driver.BackupMetadata): number => {
    const copiedPages = totalPages - remainingPages;
    if (copiedPages < before) restarts += 1;
    before = copiedPages;
    if (restarts > MAX_COPY_RESTARTS) {
      throw new FormsvcError(
        "database_busy",
        `${path}: other processes keep writing; the copy cannot finish`,
      );
    }
    onProgress({ copiedPages, totalPages });
    return sync.mayGoOn(copiedPages, remainingPages) ? COPY_PAGES_A_TURN : 0;
  };
  try {
    await connection.backup(file, { progress });
  } catch (error) {
    throw translateDatabaseError(error, path);
  } finally {
    await sync.close();
  }
}
