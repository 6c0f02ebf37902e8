import { hash } from "node:crypto";
import { existsSync, readdirSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { toIsoTime } from "../../foundation/clock.ts";

/**
 * The folder of the scheduled backups of one database. Other databases may have theirs in it: the name of a backup ends with the name of
 * its database. That of `formsvc.db` ends with `.db` alone, as the names of all backups did in earlier versions. If the folder belongs to
 * no folder of a database, databases of the same name may use it, so the name also has a mark of the database's folder.
 */
export interface BackupFolder {
  readonly directory: string;
  /** The absolute path of the database. */
  readonly database: string;
  /** The end of the names of its backups, without the dot. */
  readonly end: string;
}

/**
 * Resolves a relative folder from the folder of the database, not from the current one: cron may run doctor in any folder, and doctor must
 * look into the same place as the server.
 */
export function backupFolder(
  { directory }: { readonly directory: string },
  databasePath: string,
): BackupFolder {
  const database = resolve(databasePath);
  const folder = resolve(dirname(database), directory);
  const isOfDatabase = [folder, dirname(folder)].includes(dirname(database));
  const end = endOf(database);
  return { directory: folder, database, end: isOfDatabase ? end : `${markOf(dirname(database))}.${end}` };
}

const MARK_LENGTH = 8;

/** Tells folders apart; the same for each path of one folder. */
function markOf(folder: string): string {
  const real = existsSync(folder) ? realpathSync(folder) : folder;
  return hash("sha256", real, "hex").slice(0, MARK_LENGTH);
}

/** The name of a database with which the names of backups have no other end than their kind. */
const DEFAULT_NAME = "formsvc.db";
const DEFAULT_END = "db";

function endOf(database: string): string {
  const name = basename(database);
  return name === DEFAULT_NAME ? DEFAULT_END : name;
}

/** The path of a backup that is made at this time. The name contains it, because copying a folder changes the times of its files. */
export function backupPath({ directory, end }: BackupFolder, now: number): string {
  const time = toIsoTime(now).slice(0, 19).replaceAll(":", "-");
  return join(directory, `formsvc-${time}.${end}`);
}

const NAME = /^formsvc-(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)\.(.+)$/;
/** What follows the name of a file that an interrupted backup leaves behind. */
const UNFINISHED = /\.unfinished-\d+(?:-journal)?$/;

export interface ScheduledBackup {
  readonly file: string;
  readonly madeAt: number;
}

/** Lists the backups of a database in the folder of its schedule, newest first; none if there is no such folder. */
export function listScheduledBackups(folder: BackupFolder): ScheduledBackup[] {
  const { database, end } = folder;
  return listByEnd(folder, !isMarked(folder) && isAlone(database) ? [end, DEFAULT_END] : [end]);
}

/** Lists the backups of earlier versions that this database may have made, or another one of its name: they had no mark. */
export function listUnmarkedBackups(folder: BackupFolder): ScheduledBackup[] {
  return isMarked(folder) ? listByEnd(folder, [endOf(folder.database)]) : [];
}

function isMarked({ database, end }: BackupFolder): boolean {
  return end !== endOf(database);
}

function listByEnd({ directory }: BackupFolder, ends: readonly string[]): ScheduledBackup[] {
  return namesIn(directory)
    .flatMap((name) => {
      const [, day, hours, minutes, seconds, end = ""] = NAME.exec(name) ?? [];
      const madeAt = Date.parse(`${day}T${hours}:${minutes}:${seconds}Z`);
      const isOne = ends.includes(end) && !Number.isNaN(madeAt);
      return isOne ? [{ file: join(directory, name), madeAt }] : [];
    })
    .sort((a, b) => b.madeAt - a.madeAt);
}

/** Lists what interrupted backups of a database left in the folder. */
export function listUnfinishedBackups({ directory, end }: BackupFolder): string[] {
  return namesIn(directory)
    .filter((name) => UNFINISHED.test(name) && NAME.exec(name.replace(UNFINISHED, ""))?.[5] === end)
    .map((name) => join(directory, name));
}

const LOCK_END = "-serve";

/** Whether no other database in its folder was ever served: then backups with the names of earlier versions are its own. */
function isAlone(database: string): boolean {
  const folder = dirname(database);
  return namesIn(folder)
    .filter((name) => name.endsWith(LOCK_END))
    .map((name) => join(folder, name.slice(0, -LOCK_END.length)))
    .every((served) => served === database || !existsSync(served));
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
