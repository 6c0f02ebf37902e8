import { existsSync, lstatSync, realpathSync } from "node:fs";
import { dirname } from "node:path";
import Driver from "better-sqlite3";
import { FormsvcError } from "../../foundation/errors.ts";
import type { Hint } from "../../foundation/hint.ts";
import { createPrivately } from "./private-file.ts";
import { translateDatabaseError } from "./database-error.ts";

/** How long a lock may be in the hands of somebody who only looks whether it is taken: that takes far less than a millisecond. */
const LOOK_MS = 100;

/** Held for as long as a server serves a database file. */
export interface ServerLock {
  release(): void;
}

/**
 * Takes the lock that only one process on the machine can hold: a reserved lock of the operating system on a small file
 * beside the database. It ends with the process, however that ends, so a lock left behind cannot block a restart.
 *
 * @param hint what to do if another process holds it.
 * @throws server_running naming the process that holds it; database_unusable if the small file cannot be written.
 */
export function lockServer(
  databasePath: string,
  pid: number,
  startedAt: string,
  hint: Hint = { kind: "stop_server" },
): ServerLock {
  // Two names of one file, by a symbolic link, must meet in one lock.
  if (!existsSync(dirname(databasePath))) {
    throw new FormsvcError(
      "database_unusable",
      `${databasePath}: its folder does not exist; create it first`,
    );
  }
  const file = lockFileOf(databasePath);
  createPrivately(file);
  // With a link here, a user who may write in the folder could make root write to another file.
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

/** Whether a server serves this file now. If that cannot be told, one does. */
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

function lockFileOf(databasePath: string): string {
  return `${existsSync(databasePath) ? realpathSync(databasePath) : databasePath}-serve`;
}

/** A reserved lock lets others read the rows that were committed before it. */
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
