import { chownSync, closeSync, fsyncSync, linkSync, openSync, renameSync, statSync } from "node:fs";
import { dirname } from "node:path";

/** What SQLite keeps beside a database, and takes for a part of whatever file has the name before the suffix. */
export const LOG_SUFFIXES = ["-wal", "-journal", "-shm"] as const;

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

/**
 * Root makes files for others: a service could not open its database after root restored it. What root makes in a
 * folder belongs to the folder's owner.
 */
export function giveToFolderOwner(file: string): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(dirname(file));
  chownSync(file, uid, gid);
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
