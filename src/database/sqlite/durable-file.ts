import { closeSync, fsyncSync, linkSync, openSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";

/** What SQLite keeps beside a database, and takes for a part of whatever file has the name before the suffix. */
export const LOG_SUFFIXES = ["-wal", "-journal", "-shm"] as const;

/** Removes a database that is not the one in use, with what SQLite keeps beside it. */
export function removeCopy(file: string): void {
  for (const suffix of ["", ...LOG_SUFFIXES]) rmSync(`${file}${suffix}`, { force: true });
}

/** Brings a file's content to the disk. */
export function syncFile(file: string): void {
  const fd = openSync(file, "r+");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Brings a folder's names to the disk: a renamed file is only then certain to be found under its new name. */
export function syncFolderOf(file: string): void {
  // Windows has no such call for folders and orders its own journal.
  if (process.platform === "win32") return;
  const fd = openSync(dirname(file), "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Gives a file, already durable, its final name in the same folder, in place of what is there. */
export function moveIntoPlace(file: string, target: string): void {
  renameSync(file, target);
  syncFolderOf(target);
}

/** Gives a file a second name, so that replacing it later leaves no moment without it; a plain rename where links cannot be made. */
export function keepUnder(file: string, kept: string): void {
  try {
    linkSync(file, kept);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") throw error;
    renameSync(file, kept);
  }
  syncFolderOf(kept);
}
