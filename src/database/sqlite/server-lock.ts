import { existsSync, lstatSync, realpathSync } from "node:fs";
import { dirname } from "node:path";
import Driver from "better-sqlite3";
import { FormsvcError } from "../../foundation/errors.ts";
import type { Hint } from "../../foundation/hint.ts";
import { createPrivately } from "./private-file.ts";
import { translateDatabaseError } from "./database-error.ts";

/** The longest wait for a process that only looks whether the lock is taken; a look takes far less than a millisecond. */
const LOOK_MS = 100;

/** A lock that a server holds as long as it serves a database file. */
export interface ServerLock {
  release(): void;
}

/**
 * Takes a lock that only one process on the machine can hold: a reserved lock of SQLite on a small file beside the database. The operating
 * system ends it with the process, in whatever way that ends, so it can never block a restart.
 *
 * @param hint what to do if another process holds the lock.
 * @throws server_running naming the process that holds it; database_unusable if the small file cannot be written.
 */
export function lockServer(
  databasePath: string,
  pid: number,
  startedAt: string,
  hint: Hint = { kind: "stop_server" },
): ServerLock {
  if (!existsSync(dirname(databasePath))) {
    throw new FormsvcError(
      "database_unusable",
      `${databasePath}: its folder does not exist; create it first`,
    );
  }
  const file = lockFileOf(databasePath);
  createPrivately(file);
  // If this were a link, a user who may write in the folder could make root write into another file.
  if (lstatSync(file).isSymbolicLink()) {
    throw new FormsvcError("database_unusable", `${file}: this must not be a link; remove it`);
  }
  const connection = new Driver(file, { timeout: LOOK_MS });
  try {
    connection.exec("BEGIN IMMEDIATE");
    connection.exec(
      "CREATE TABLE IF NOT EXISTS holder (pid INTEGER NOT NULL, started_at TEXT NOT NULL) STRICT",
    );
    connection.exec("DELETE FROM holder");
    connection.prepare("INSERT INTO holder (pid, started_at) VALUES (?, ?)").run(pid, startedAt);
    connection.exec("COMMIT; BEGIN IMMEDIATE");
  } catch (error) {
    const isTaken = error instanceof Driver.SqliteError && error.code.startsWith("SQLITE_BUSY");
    const holder = isTaken ? describeHolder(connection) : "";
    connection.close();
    if (!isTaken) throw translateDatabaseError(error, file);
    throw new FormsvcError("server_running", `${databasePath}: already served${holder}`, {
      cause: error,
      hint,
    });
  }
  return { release: () => void connection.close() };
}

/** Whether a server serves this file now; true if that is unknown. */
export function isServed(databasePath: string): boolean {
  const file = lockFileOf(databasePath);
  if (!existsSync(file)) return false;
  try {
    const connection = new Driver(file, { timeout: 0, fileMustExist: true });
    try {
      connection.exec("BEGIN IMMEDIATE; ROLLBACK");
      return false;
    } finally {
      connection.close();
    }
  } catch {
    return true;
  }
}

/** The path of the lock file. Two names of one database, through a symbolic link, must lead to the same lock. */
function lockFileOf(databasePath: string): string {
  return `${existsSync(databasePath) ? realpathSync(databasePath) : databasePath}-serve`;
}

/** Describes the process that holds the lock. While it holds its reserved lock, others can still read committed rows. */
function describeHolder(connection: Driver.Database): string {
  try {
    const holder = connection.prepare("SELECT pid, started_at FROM holder").get() as
      | { pid: number; started_at: string }
      | undefined;
    return holder === undefined ? "" : ` by process ${holder.pid}, running since ${holder.started_at}`;
  } catch {
    return "";
  }
}
