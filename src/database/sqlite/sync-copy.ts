import fs from "node:fs";

/** The number of pages copied that the disk may lack at most: a slow one takes some tens of milliseconds to keep them. */
const MAX_UNSYNCED_PAGES = 1024;
/** The number of pages that the last sync, which SQLite makes itself, may find. */
const LAST_PAGES = 64;

/** Starts to have the disk keep what was written to a file. It may fail without a word: SQLite's own sync at the end fails too then. */
export type StartSync = (fd: number) => Promise<void>;

const syncBeside: StartSync = (fd) => new Promise((resolve) => fs.fdatasync(fd, () => resolve()));

/** Has the disk keep a copy while it is made. Else the last step would wait for all of it, and the event loop with it. */
export interface CopySync {
  /** Whether the copy may go on. If it may not, ask again in the next turn. */
  mayGoOn(copiedPages: number, remainingPages: number): boolean;
  /** Call it when SQLite has closed the file: closing the descriptor before would release SQLite's locks. */
  close(): Promise<void>;
}

export function createCopySync(file: string, start: StartSync = syncBeside): CopySync {
  let fd: number | null = null;
  let synced = 0;
  let running: Promise<void> | null = null;
  const run = async (copied: number, opened: number): Promise<void> => {
    await start(opened);
    synced = copied;
    running = null;
  };
  return {
    mayGoOn(copied, remaining) {
      // The copy began again.
      if (copied < synced) synced = 0;
      fd ??= openOrNull(file);
      if (fd === null) return true;
      const most = remaining > LAST_PAGES ? MAX_UNSYNCED_PAGES : LAST_PAGES;
      const unsynced = copied - synced;
      if (unsynced > most / 2) running ??= run(copied, fd);
      return unsynced <= most;
    },
    async close() {
      await running;
      if (fd !== null) fs.closeSync(fd);
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
