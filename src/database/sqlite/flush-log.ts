import fs from "node:fs";

/** Has new pages of the write-ahead log written to the disk beside the event loop. */
export interface LogFlusher {
  /** Call it after each commit that did not wait for the disk. */
  flush(): void;
  /** Resolves when nothing is written any more. */
  close(): Promise<void>;
}

/**
 * A durable commit waits for all pages that are in the log before it, those of files included. With this they are on the disk already, or on
 * their way. The commit syncs the log all the same, so it does not matter whether this fails: a page that could not be written
 * is reported to each descriptor of the file.
 */
export function createLogFlusher(database: string): LogFlusher {
  let log: number | null = null;
  let isMore = false;
  let running: Promise<void> | null = null;
  const run = async (file: number): Promise<void> => {
    isMore = false;
    await sync(file);
    running = isMore ? run(file) : null;
  };
  return {
    flush() {
      // SQLite has no locks on this file, which closing a descriptor would undo.
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

function sync(file: number): Promise<void> {
  return new Promise((resolve) => fs.fdatasync(file, () => resolve()));
}
