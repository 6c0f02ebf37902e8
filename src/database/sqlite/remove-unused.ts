import { realpathSync } from "node:fs";
import Driver from "better-sqlite3";
import { removeCopy } from "./durable-file.ts";

/**
 * Removes a database that has no account: nothing can be in it then. It stays if another process has it open, which could store something in it.
 * A process that opens it in this moment is refused by SQLite, which finds the file without its name.
 *
 * @returns whether it was removed.
 */
export function removeUnused(file: string): boolean {
  const connection = new Driver(file, { fileMustExist: true, timeout: 0 });
  try {
    // The first reading is refused unless nobody else has the file open, and nobody can read it from then on.
    connection.pragma("locking_mode = EXCLUSIVE");
    if (connection.prepare("SELECT 1 FROM account").get() !== undefined) return false;
    // The file itself, also if it was named by a link.
    removeCopy(realpathSync(file));
    return true;
  } catch {
    return false;
  } finally {
    connection.close();
  }
}
