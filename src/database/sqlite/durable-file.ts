import { closeSync, fsyncSync, openSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";

/** The suffixes of the files that SQLite keeps beside a database. It takes any file with such a name as a part of the database. */
export const LOG_SUFFIXES = ["-wal", "-journal", "-shm"] as const;

/** Removes a database that is not in use, with the files that SQLite keeps beside it. */
export function removeCopy(file: string): void {
  for (const suffix of ["", ...LOG_SUFFIXES]) rmSync(`${file}${suffix}`, { force: true });
}

/** Syncs the content of a file to the disk. */
export function syncFile(file: string): void {
  const fd = openSync(file, "r+");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Syncs the names in a folder to the disk. Only then will a renamed file certainly keep its new name. */
export function syncFolderOf(file: string): void {
  // Windows has no such call for folders, and orders its own journal.
  if (process.platform === "win32") return;
  const fd = openSync(dirname(file), "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Gives a durable file its final name in the same folder. Replaces a file that has this name. */
export function moveIntoPlace(file: string, target: string): void {
  renameSync(file, target);
  syncFolderOf(target);
}
