import { closeSync, fsyncSync, linkSync, openSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";

/** Suffixes of the files that SQLite keeps beside a database. It takes them for a part of any database with that name. */
export const LOG_SUFFIXES = ["-wal", "-journal", "-shm"] as const;

/** Removes a database that is not in use, with the files that SQLite keeps beside it. */
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

/** Brings a folder's names to the disk: only then is a renamed file certain to have its new name. */
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

/** Gives a file, already durable, its final name in the same folder, and replaces the file that has it. */
export function moveIntoPlace(file: string, target: string): void {
  renameSync(file, target);
  syncFolderOf(target);
}

/** Gives a file a second name, so that it can be replaced later without a moment in which it is missing; a rename if links are not possible. */
export function keepUnder(file: string, kept: string): void {
  try {
    linkSync(file, kept);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") throw error;
    renameSync(file, kept);
  }
  syncFolderOf(kept);
}
