import {
  closeSync,
  constants,
  existsSync,
  fchownSync,
  fstatSync,
  openSync,
  readSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { FormsvcError } from "../../foundation/errors.ts";

/**
 * Gives a file that root created to the owner of its folder: otherwise a service could not open its database after root restored it. The
 * owner is changed by the descriptor and not by the name, because a user who may write in the folder could put a link there meanwhile.
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
  ENOSPC: "the disk is full (df -h) or takes no further file (df -i); free some space",
  EEXIST: "something else has its name, perhaps a link that leads nowhere; remove that",
  ENOENT: "its folder does not exist; create it first",
  ENOTDIR: "a part of its path is a file, not a folder",
};

/**
 * Creates an empty file with mode 0600 and opens it for writing. It replaces nothing, not even a link that leads nowhere.
 *
 * @throws database_unusable saying why the file cannot be made.
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

/**
 * Creates an empty file with mode 0600 if there is none; SQLite gives the same mode to the files beside it. A link to an existing file is
 * left as it is. No file is created through a link that leads nowhere.
 *
 * @throws database_unusable saying why the file cannot be made.
 */
export function createPrivately(file: string): void {
  if (existsSync(file)) return;
  if (!existsSync(dirname(file))) {
    throw new FormsvcError("database_unusable", `${file}: its folder does not exist; create it first`);
  }
  try {
    closeSync(openNewFile(file));
  } catch (error) {
    // Another process created the file first.
    if (!existsSync(file)) throw error;
  }
}

/** Refuses links, and does not wait for pipes. Windows has neither flag. */
const PLAIN_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** Opens a file that may belong to somebody else, for reading. @throws database_unusable for a link, a pipe, a device or a folder. */
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

/** Copies the rest of an open file into a new one with mode 0600, and closes both. */
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
