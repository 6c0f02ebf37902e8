import fs from "node:fs";

/** Writes new pages of the write-ahead log to the disk while the event loop goes on. */
export interface LogFlusher {
  /** Call it after each commit that did not wait for the disk. */
  flush(): void;
  /** Resolves when no page is being written any more. */
  close(): Promise<void>;
}

/**
 * A durable commit waits for all pages that are in the log before it, also those of files. With this flusher they are on the disk already,
 * or on their way. The commit syncs the log in any case.
 *
 * @param onFailure called if the disk failed to keep pages
 */
export function createLogFlusher(database: string, onFailure: (error: Error) => void): LogFlusher {
  let log: number | null = null;
  let isMore = false;
  let running: Promise<void> | null = null;
  const run = async (file: number): Promise<void> => {
    isMore = false;
    await sync(file, onFailure);
    running = isMore ? run(file) : null;
  };
  return {
    flush() {
      // SQLite has no locks on this file that closing a descriptor could release.
      log ??= openOrNull(`${database}-wal`);
      isMore = true;
      if (log !== null) running ??= run(log);
    },
    async close() {
      isMore = false;
      await running;
      if (log !== null) fs.closeSync(log);
      log = null;
    },
  };
}

function openOrNull(path: string): number | null {
  try {
    return fs.openSync(path, "r");
  } catch {
    return null;
  }
}

function sync(file: number, onFailure: (error: Error) => void): Promise<void> {
  return new Promise((resolve) =>
    fs.fdatasync(file, (error) => {
      if (error !== null) onFailure(error);
      resolve();
    }),
  );
}
