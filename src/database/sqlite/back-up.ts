import { closeSync, existsSync, renameSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import Driver from "better-sqlite3";
import { type Clock, toIsoTime } from "../../foundation/clock.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { askForCopy, type ServedCopy } from "./backup-socket.ts";
import { checkCopy, type CheckedCopy, type CheckReport } from "./check-copy.ts";
import { COMMAND_BUSY_TIMEOUT_MS, openDatabase } from "./open-database.ts";
import type { CopyProgress } from "./copy-database.ts";
import { isFull, translateDatabaseError } from "./database-error.ts";
import { LOG_SUFFIXES, removeCopy, syncFile } from "./durable-file.ts";
import { copyToNewFile, giveToFolderOwner, openNewFile, openPlainFile } from "./private-file.ts";
import { fullDisk, translateFileError } from "./file-error.ts";
import { noteBackup } from "./last-backup.ts";
import { moveToNewName, nameTaken } from "./new-name.ts";

export interface Backup extends CheckedCopy {
  readonly file: string;
  readonly bytes: number;
  /** Whether the server made the copy, or this process did with `VACUUM INTO`. */
  readonly by: "server" | "command";
  /** The number of files whose bytes were left out; absent if the backup has everything. */
  readonly leftOutFiles?: number;
}

export interface FileBackupParts {
  readonly clock: Clock;
  readonly onProgress: (progress: CopyProgress) => void;
  readonly onNote: (text: string) => void;
  /** Whether the bytes of files are left out. */
  readonly isWithoutFiles?: boolean;
}

/**
 * Makes a backup file with everything that was acknowledged before the call. The file is read completely before it gets its name. Its mode
 * is 0600, and it is durable on disk. The database may be served and written meanwhile.
 *
 * @throws usage if the file cannot be created there; already_exists; failed if the disk cannot take it;
 * database_unusable if there is no database or the copy is not sound.
 */
export async function backUp(databasePath: string, target: string, parts: FileBackupParts): Promise<Backup> {
  const database = resolve(databasePath);
  const file = resolve(target);
  if (!existsSync(database)) {
    throw new FormsvcError("database_unusable", `${database}: there is no database`, {
      hint: { kind: "name_database" },
    });
  }
  let by: Backup["by"] = "command";
  let leftOut: number | null = null;
  const write = async (unfinished: string): Promise<void> => {
    by = await fill(database, unfinished, parts);
    if (parts.isWithoutFiles === true) leftOut = leaveFilesOut(unfinished, file);
  };
  const checked = await makeWhole(file, write, database);
  if (checked.differences.length > 0)
    parts.onNote(`restore will refuse this backup: ${checked.differences.join("; ")}`);
  noteMade(database, file, parts);
  const { version, submissions, outsideFiles } = checked;
  const made = { version, submissions, outsideFiles, file, bytes: statSync(file).size, by };
  return leftOut === null ? made : { ...made, leftOutFiles: leftOut };
}

/**
 * Removes the bytes of files from a copy, and makes the copy as small as possible. Returns the number of files whose bytes were removed.
 *
 * @param shown the name of the file in messages. @throws failed if the copy is of a version that cannot record that bytes were left out
 */
export function leaveFilesOut(copy: string, shown: string): number {
  const connection = new Driver(copy, { fileMustExist: true, timeout: 0 });
  try {
    connection.pragma("trusted_schema = OFF");
    connection.pragma("journal_mode = DELETE");
    const tables = connection.prepare("SELECT count(*) FROM sqlite_schema WHERE name = 'file_chunk'").pluck();
    if (tables.get() === 0) return 0;
    const columns = connection.prepare(
      "SELECT count(*) FROM pragma_table_info('file') WHERE name = 'is_left_out'",
    );
    if (columns.pluck().get() === 0)
      throw new FormsvcError(
        "failed",
        `${shown}: the database is of an earlier version; bring it up to date first`,
        {
          hint: { kind: "upgrade_database" },
        },
      );
    connection.exec("DELETE FROM file_chunk");
    // The bytes of files with an object are not in the database.
    const { changes } = connection.prepare("UPDATE file SET is_left_out = 1 WHERE object_id IS NULL").run();
    connection.exec("VACUUM");
    return changes;
  } catch (error) {
    throw error instanceof FormsvcError ? error : translateDatabaseError(error, shown);
  } finally {
    connection.close();
  }
}

/**
 * Makes a database file under a temporary name, reads it completely, and then gives it its final name. Its mode is 0600, and it is durable
 * on disk.
 *
 * @param write fills the empty file that it is given
 * @param source what is copied, for messages about the content. @throws as {@link backUp} does, and what `write` throws
 */
export async function makeWhole(
  target: string,
  write: (unfinished: string) => Promise<void>,
  source = resolve(target),
): Promise<CheckReport> {
  const file = resolve(target);
  checkTarget(file);
  const unfinished = `${file}.unfinished-${process.pid}`;
  createUnfinished(unfinished, file);
  try {
    await write(unfinished);
    const checked = checkCopy(unfinished, source);
    syncFile(unfinished);
    refuseTaken(file);
    moveToNewName(unfinished, file);
    return checked;
  } catch (error) {
    // The error must be about the copy: the database is not written, and may be on another disk.
    throw isFull(error) ? fullDisk(file, error) : translateFileError(error, file);
  } finally {
    removeCopy(unfinished);
  }
}

/** Records the backup. The backup is complete, so the command must not fail if this note cannot be written. */
function noteMade(database: string, file: string, { clock, onNote }: FileBackupParts): void {
  try {
    noteBackup(database, { file, madeAt: toIsoTime(clock.now()) });
  } catch (error) {
    onNote(`doctor will not know of this backup: ${(error as Error).message}`);
  }
}

function checkTarget(file: string): void {
  try {
    refuseFolder(file);
    refuseTaken(file);
  } catch (error) {
    throw error instanceof FormsvcError ? error : cannotBeMade(file, error as Error);
  }
}

function refuseFolder(file: string): void {
  if (statSync(dirname(file), { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new FormsvcError("usage", `${file}: its folder does not exist; create it first`);
  }
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory() === true) {
    throw new FormsvcError("usage", `${file}: this is a folder; name a file in it`);
  }
}

/** Refuses a name that is taken. A log of another database with this name counts too, because SQLite would replay it into the backup. */
function refuseTaken(file: string): void {
  const taken = ["", ...LOG_SUFFIXES].map((suffix) => `${file}${suffix}`).find((name) => existsSync(name));
  if (taken !== undefined) throw nameTaken(taken);
}

function createUnfinished(unfinished: string, file: string): void {
  try {
    // An earlier process with the same id may have left such a file.
    removeCopy(unfinished);
    closeSync(openNewFile(unfinished));
  } catch (error) {
    throw cannotBeMade(file, error as Error);
  }
}

/** The disk cannot take the file, as it may also find in the middle of a copy. */
const OF_THE_DISK = new Set(["ENOSPC", "EDQUOT", "EIO"]);

function cannotBeMade(file: string, cause: Error): FormsvcError {
  const { code = "" } = (cause instanceof FormsvcError ? cause.cause : cause) as NodeJS.ErrnoException;
  const kind = OF_THE_DISK.has(code) ? "failed" : "usage";
  return new FormsvcError(kind, `${file}: cannot be made (${cause.message})`, { cause });
}

async function fill(database: string, unfinished: string, parts: FileBackupParts): Promise<Backup["by"]> {
  const answer = await askForCopy(database, parts.onProgress);
  if (answer !== null && "file" in answer) {
    try {
      take(answer, unfinished);
      return "server";
    } finally {
      answer.release();
    }
  }
  if (answer !== null) parts.onNote(`the server made no copy (${answer.refused}); making one without it`);
  vacuumInto(database, unfinished);
  return "command";
}

/** Moves the server's copy, which is beside the database. The backup may be on another disk; then it is copied. */
function take(copy: ServedCopy, unfinished: string): void {
  try {
    renameSync(copy.file, unfinished);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EXDEV") throw error;
    removeCopy(unfinished);
    return copyToNewFile(openPlainFile(copy.file), unfinished);
  }
  const fd = openPlainFile(unfinished);
  try {
    giveToFolderOwner(fd, unfinished);
  } finally {
    closeSync(fd);
  }
}

/** Copies the whole file in a single snapshot; writers continue meanwhile. */
function vacuumInto(database: string, unfinished: string): void {
  const db = openDatabase(database, { busyTimeoutMs: COMMAND_BUSY_TIMEOUT_MS });
  try {
    db.readNow(() => db.prepare("VACUUM INTO ?").run(unfinished));
  } finally {
    db.close();
  }
}
