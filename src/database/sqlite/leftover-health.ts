import { existsSync, lstatSync, readdirSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { toIsoTime } from "../../foundation/clock.ts";
import { type Finding, problem, sound } from "../../foundation/finding.ts";
import { isRunning } from "../../foundation/is-running.ts";
import type { SqliteDatabase } from "./sqlite-database.ts";
import { mebibytes } from "./database-health.ts";
import { DAY_MS } from "../../foundation/time-units.ts";

/** The number of days in which somebody may want to go back to a kept copy. */
const KEPT_DAYS = 30;
/** No command takes longer than this. After it, another process has the id. */
const LONGEST_WORK_MS = DAY_MS;

interface Leftover {
  readonly file: string;
  readonly bytes: number;
  /** The time at which the file got its name, in milliseconds. The time of the last write may be years ago. */
  readonly namedAt: number;
  readonly isOpenToOthers: boolean;
  /** The id of the process that makes the file; null for a copy that was kept on purpose. */
  readonly pid: number | null;
}

/** Reports files that a restore, a migration or an interrupted command left beside the database or among the backups. */
export function checkLeftovers(db: SqliteDatabase, backupDirectory: string, now: number): Finding {
  const found = findLeftovers(db.path, backupDirectory);
  if (found.length === 0) return sound("files.leftovers", "no copies were kept and nothing is unfinished");
  const bytes = found.reduce((sum, leftover) => sum + leftover.bytes, 0);
  const oldest = Math.min(...found.map(({ namedAt }) => namedAt));
  const message = `${found.length} kept or unfinished files of ${mebibytes(bytes)}, the oldest from ${toIsoTime(oldest)}`;
  const remove = found.filter((leftover) => isOverdue(leftover, now));
  const close = found.filter((leftover) => leftover.isOpenToOthers && !remove.includes(leftover));
  const advice = [
    ...name("nobody finishes: rm", remove, ({ pid }) => pid !== null),
    ...name(`kept for ${KEPT_DAYS} days, so when all is well: rm`, remove, ({ pid }) => pid === null),
    ...name("others may read: chmod 600", close, () => true),
  ];
  if (advice.length > 0) return problem("files.leftovers", message, advice.join("; "));
  return sound("files.leftovers", `${message}; kept copies may be removed when all is well`);
}

function name(what: string, from: readonly Leftover[], which: (leftover: Leftover) => boolean): string[] {
  const files = from.filter(which).map(({ file }) => file);
  return files.length === 0 ? [] : [`${what} ${files.join(" ")}`];
}

function isOverdue({ pid, namedAt }: Leftover, now: number): boolean {
  if (pid === null) return now - namedAt > KEPT_DAYS * DAY_MS;
  return now - namedAt > LONGEST_WORK_MS || !isRunning(pid);
}

function findLeftovers(databasePath: string, backupDirectory: string): Leftover[] {
  // A migration keeps its copy beside the given path, a restore beside the file to which this path leads.
  const databases = [databasePath, realpathSync(databasePath)];
  const folders = new Set([...databases.map((path) => dirname(path)), backupDirectory]);
  const bases = new Set(databases.map((path) => basename(path)));
  return [...folders].flatMap((folder) => {
    const names = existsSync(folder) ? readdirSync(folder) : [];
    return names.flatMap((each) => {
      const pid = [...bases].map((base) => pidOf(each, base)).find((one) => one !== undefined);
      return pid === undefined ? [] : look(join(folder, each), pid);
    });
  });
}

/** The id of the process that makes this file; null for a copy that was kept on purpose; undefined for any other file. */
function pidOf(file: string, database: string): number | null | undefined {
  const unfinished = /\.unfinished-(\d+)(?:-\w+)?$/.exec(file);
  if (unfinished !== null) return Number(unfinished[1]);
  if (!file.startsWith(`${database}.`)) return undefined;
  const [, kind, rest = ""] = /^(replaced|schema|restore)-(.+)$/.exec(file.slice(database.length + 1)) ?? [];
  if (kind === undefined) return undefined;
  return kind === "restore" ? Number.parseInt(rest, 10) : null;
}

function look(file: string, pid: number | null): Leftover[] {
  const stats = lstatSync(file, { throwIfNoEntry: false });
  if (stats?.isFile() !== true) return [];
  // On Windows the modes of files have no meaning.
  const isOpenToOthers = process.platform !== "win32" && (stats.mode & 0o077) !== 0;
  return [{ file, pid, isOpenToOthers, bytes: stats.size, namedAt: stats.ctimeMs }];
}
