import {
  closeSync,
  constants,
  fchownSync,
  fstatSync,
  fsyncSync,
  linkSync,
  openSync,
  readSync,
  renameSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { FormsvcError } from "../../foundation/errors.ts";

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
 * folder belongs to the folder's owner. The descriptor, not the name, is given away: whoever may write in the folder
 * could put a link to anything there meanwhile.
 */
export function giveToFolderOwner(fd: number, file: string): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(dirname(file));
  fchownSync(fd, uid, gid);
}

const CREATION_FAILURES: Readonly<Record<string, string>> = {
  EACCES: "this user may not write in its folder; check the folder's owner and mode",
  EPERM: "this user may not write in its folder; check the folder's owner and mode",
  EROFS: "its folder is read-only",
  ENOSPC: "the disk is full; free some space",
  EEXIST: "something else has its name, perhaps a link that leads nowhere; remove that",
  ENOENT: "its folder does not exist; create it first",
  ENOTDIR: "a part of its path is a file, not a folder",
};

/**
 * Makes an empty file with mode 0600 and opens it for writing. It takes the place of nothing, not even of a link that
 * leads nowhere.
 *
 * @throws database_unusable saying why it cannot be made.
 */
export function openNewFile(file: string): number {
  let fd: number | undefined;
  try {
    fd = openSync(file, "wx", 0o600);
    giveToFolderOwner(fd, file);
    return fd;
  } catch (error) {
    if (fd !== undefined) closeSync(fd);
    const { code = "", message } = error as NodeJS.ErrnoException;
    const why = CREATION_FAILURES[code] ?? message;
    throw new FormsvcError("database_unusable", `${file}: the file cannot be made: ${why}`, { cause: error });
  }
}

/** Windows has neither flag. */
const PLAIN_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** Opens for reading what somebody else made. @throws database_unusable for a link, a pipe, a device or a folder. */
export function openPlainFile(file: string): number {
  let fd: number | undefined;
  try {
    fd = openSync(file, PLAIN_FLAGS);
    if (fstatSync(fd).isFile()) return fd;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ELOOP") throw error;
  }
  if (fd !== undefined) closeSync(fd);
  throw new FormsvcError("database_unusable", `${file}: this must be a plain file, not a link`);
}

const COPY_CHUNK_BYTES = 1 << 20;

/** Copies what is still to be read into a new file with mode 0600, and closes both. */
export function copyToNewFile(source: number, target: string): void {
  let fd: number | undefined;
  try {
    fd = openNewFile(target);
    const chunk = Buffer.allocUnsafe(COPY_CHUNK_BYTES);
    for (let length = readSync(source, chunk); length > 0; length = readSync(source, chunk)) {
      for (let done = 0; done < length;) done += writeSync(fd, chunk, done, length - done);
    }
  } finally {
    closeSync(source);
    if (fd !== undefined) closeSync(fd);
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
