import { accessSync, constants, type Stats, statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import Driver from "better-sqlite3";
import { FormsvcError } from "../../foundation/errors.ts";

const REASONS: Readonly<Record<string, string>> = {
  SQLITE_FULL: "the disk is full; free some space",
  SQLITE_IOERR: "the disk reports an error; check it before anything else",
  SQLITE_READONLY: "the file or its folder is read-only; check its owner and mode",
  SQLITE_CANTOPEN: "the file cannot be opened; check that it exists, its owner and its mode",
  SQLITE_PERM: "access is denied; check the file's owner and mode",
  SQLITE_CORRUPT: "the file is damaged; restore a backup",
  SQLITE_NOTADB: "the file is not a formsvc database; name the right one, or restore a backup",
  SQLITE_NOMEM: "there is no memory left",
};

/**
 * Turns an error of the driver into `database_busy` or `database_unusable`, with what to do. Our own errors are returned unchanged, and so
 * are errors that are a defect of a statement.
 */
export function translateDatabaseError(error: unknown, path: string): unknown {
  if (!(error instanceof Driver.SqliteError)) return error;
  if (error.code.startsWith("SQLITE_BUSY") || error.code.startsWith("SQLITE_LOCKED")) {
    return new FormsvcError(
      "database_busy",
      `${path}: another process holds the database; try again shortly`,
      {
        retryAfterSeconds: 1,
        cause: error,
      },
    );
  }
  const reason = reasonOf(error.code, path);
  if (reason === undefined) return error;
  return new FormsvcError("database_unusable", `${path}: ${reason} (${error.code})`, {
    retryAfterSeconds: 5,
    cause: error,
  });
}

/** Whether an error, or the error of the driver behind it, means that a disk is full. */
export function isFull(error: unknown): boolean {
  const cause = error instanceof FormsvcError ? error.facts.cause : error;
  return cause instanceof Driver.SqliteError && cause.code === "SQLITE_FULL";
}

/** Undefined if the error is a defect of ours. */
function reasonOf(code: string, path: string): string | undefined {
  const known = Object.entries(REASONS).find(([prefix]) => code.startsWith(prefix))?.[1];
  if (known !== undefined && isOnReadOnlyDisk(path)) return READ_ONLY_DISK;
  if (code === "SQLITE_CANTOPEN" && isFolder(path)) return "it is a folder; name a file in it";
  if (code.startsWith("SQLITE_IOERR") && isPipeOrDevice(path))
    return "it is a pipe or a device; name the database file";
  return LIKE_FULL.some((prefix) => code.startsWith(prefix)) && hasNoRoom(path)
    ? REASONS["SQLITE_FULL"]
    : known;
}

/** Beside a database in the mode WAL, SQLite has to make two files, even to read it. */
const READ_ONLY_DISK =
  "its disk is read-only, maybe because of an error (see dmesg); make it writable, or copy the file elsewhere to read it";

function isOnReadOnlyDisk(path: string): boolean {
  try {
    accessSync(dirname(path), constants.W_OK);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EROFS";
  }
}

function isFolder(path: string): boolean {
  return kindOf(path)?.isDirectory() === true;
}

function isPipeOrDevice(path: string): boolean {
  return kindOf(path)?.isFile() === false;
}

function kindOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

/** Error codes that SQLite also uses for a full disk, when it opens or extends a file. */
const LIKE_FULL = ["SQLITE_IOERR", "SQLITE_CANTOPEN"];
/** The least space that SQLite needs beside a database, for its shared memory. */
const LEAST_ROOM_BYTES = 32_768;

function hasNoRoom(path: string): boolean {
  try {
    const { bavail, bsize, files, ffree } = statfsSync(dirname(path));
    return bavail * bsize < LEAST_ROOM_BYTES || (files > 0 && ffree === 0);
  } catch {
    return false;
  }
}
