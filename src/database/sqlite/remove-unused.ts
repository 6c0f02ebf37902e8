import { realpathSync } from "node:fs";
import Driver from "better-sqlite3";
import { removeCopy } from "./durable-file.ts";

/**
 * Removes a database without accounts, because nothing can be stored in it. If another process has it open, it stays, because that process
 * could store something. If a process opens it at this moment, SQLite refuses, because the file has lost its name.
 *
 * @returns whether the database was removed.
 */
export function removeUnused(file: string): boolean {
  const connection = new Driver(file, { fileMustExist: true, timeout: 0 });
  try {
    // With this setting the first read is refused if anybody else has the file open. Afterwards nobody else can read it.
    connection.pragma("locking_mode = EXCLUSIVE");
    if (connection.prepare("SELECT 1 FROM account").get() !== undefined) return false;
    // Removes the file itself, even if the path is a link to it.
    removeCopy(realpathSync(file));
    return true;
  } catch {
    return false;
  } finally {
    connection.close();
  }
}
