import { existsSync, readdirSync, realpathSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { LOG_SUFFIXES, syncFolderOf } from "./durable-file.ts";

/** What follows the name of a database in the name under which a restore keeps it; the time follows. */
export const REPLACED = ".replaced-";

/**
 * Takes back what a restore did that ended before it put the backup in the place of the database: the logs are put back, and the second
 * name is removed. Left there, it would look like an older database, and whoever opened it would change the one in use without its log.
 *
 * @param databasePath its server's lock is held, and nobody has it open
 * @returns whether there was anything to take back
 */
export function undoUnfinishedRestore(databasePath: string): boolean {
  if (!existsSync(databasePath)) return false;
  const database = realpathSync(databasePath);
  if (statSync(database).nlink === 1) return false;
  const folder = dirname(database);
  const kept = readdirSync(folder)
    .filter((name) => name.startsWith(`${basename(database)}${REPLACED}`))
    .map((name) => join(folder, name))
    .filter((file) => isSameFile(file, database));
  for (const file of kept) undo(database, file);
  return kept.length > 0;
}

/** The second name goes last and durably after the logs, so that this can be ended and done again at any moment. */
function undo(database: string, kept: string): void {
  for (const suffix of LOG_SUFFIXES) {
    const log = `${database}${suffix}`;
    const keptLog = `${kept}${suffix}`;
    if (!existsSync(keptLog)) continue;
    if (!existsSync(log)) renameSync(keptLog, log);
    else if (isSameFile(keptLog, log)) rmSync(keptLog);
  }
  syncFolderOf(database);
  rmSync(kept);
  syncFolderOf(database);
}

function isSameFile(one: string, other: string): boolean {
  const [a, b] = [statSync(one, { bigint: true }), statSync(other, { bigint: true })];
  return a.ino === b.ino && a.dev === b.dev;
}
