import { existsSync, mkdirSync, rmSync } from "node:fs";
import { SingleFlight } from "../../foundation/single-flight.ts";
import type { Clock } from "../../foundation/clock.ts";
import { backupFailed, backupMade } from "../../foundation/events.ts";
import { type Finding, problem, sound } from "../../foundation/finding.ts";
import type { Log } from "../../foundation/log.ts";
import {
  type BackupFolder,
  backupPath,
  listScheduledBackups,
  listUnfinishedBackups,
  listUnmarkedBackups,
  type ScheduledBackup,
} from "./backup-folder.ts";
import { findLastBackup } from "./last-backup.ts";
import { hasLitestream } from "./litestream.ts";
import type { SqliteDatabase } from "./sqlite-database.ts";
import { HOUR_MS } from "../../foundation/time-units.ts";

export interface BackupSettings {
  /** The number of hours between two backups; null makes none. */
  readonly everyHours: number | null;
  /**
   * The number of newest backups that are kept. Older ones are removed after a new one is verified; backups dated in the future do not
   * count.
   */
  readonly keep: number;
  readonly directory: string;
}

/** Time until the next attempt after a failure. */
const RETRY_MS = 600_000;

/**
 * Lists the backups without those that are dated in the future because the clock was wrong. Such a backup does not count as the newest one,
 * and no good backup is removed because of it.
 */
export function listPastBackups(folder: BackupFolder, now: number): ScheduledBackup[] {
  return listScheduledBackups(folder).filter(({ madeAt }) => madeAt <= now);
}

export interface BackupScheduler {
  /** Starts a backup if one is due. Call it regularly; it does nothing while one is being made. */
  look(): void;
  /** Resolves when no backup is being made. */
  settle(): Promise<void>;
  /** After this call, a backup that ends without a file counts as cancelled and not as failed. */
  giveUp(): void;
}

export interface SchedulerParts {
  readonly settings: BackupSettings;
  readonly folder: BackupFolder;
  /** Makes one verified backup under an unused name. Rejects with the reason if it cannot. */
  readonly make: (file: string) => Promise<void>;
  readonly clock: Clock;
  readonly log: Log;
}

export function createBackupScheduler(parts: SchedulerParts): BackupScheduler {
  const { settings, folder, make, clock, log } = parts;
  const making = new SingleFlight();
  let failedAt = -Infinity;
  let givenUp = false;

  const isDue = (): boolean => {
    if (settings.everyHours === null || making.isRunning) return false;
    const now = clock.now();
    const newest = listPastBackups(folder, now)[0];
    const since = newest === undefined ? Infinity : now - newest.madeAt;
    return !isJustAfter(failedAt, now) && since >= settings.everyHours * HOUR_MS;
  };
  const makeOne = async (): Promise<void> => {
    const now = clock.now();
    const startedAt = performance.now();
    const file = backupPath(folder, now);
    try {
      mkdirSync(folder.directory, { recursive: true, mode: 0o700 });
      for (const unfinished of listUnfinishedBackups(folder)) rmSync(unfinished);
      await make(file);
      if (!existsSync(file)) throw new Error(`${file}: the backup ended without it`);
      for (const old of listPastBackups(folder, now).slice(settings.keep)) rmSync(old.file);
      backupMade(log, { file, ms: Math.round(performance.now() - startedAt) });
    } catch (error) {
      if (givenUp) return;
      failedAt = now;
      backupFailed(log, { reason: (error as Error).message });
    }
  };
  return {
    look() {
      if (isDue()) void making.run(makeOne);
    },
    settle: () => making.settle(),
    giveUp() {
      givenUp = true;
    },
  };
}

/** Whether a failure is so recent that the next attempt waits. Also false after the clock was set back. */
function isJustAfter(failedAt: number, now: number): boolean {
  return Math.abs(now - failedAt) < RETRY_MS;
}

/** Checks that there is a recent backup. Schedules of other programs are unknown here. */
export function checkBackups(
  db: SqliteDatabase,
  settings: BackupSettings,
  folder: BackupFolder,
  now: number,
): Finding {
  const { everyHours } = settings;
  if (everyHours !== null) return checkBackupAge({ everyHours }, folder, now);
  if (hasLitestream(db))
    return sound("backups.age", "Litestream copies the database; the server makes no backup");
  const last = findLastBackup(db.path);
  const file = last?.file ?? listPastBackups(folder, now)[0]?.file;
  if (file === undefined) {
    return problem("backups.age", "no backup is scheduled, and none was made", { kind: "schedule_backups" });
  }
  const when = last === null ? "" : ` at ${last.madeAt}`;
  return sound("backups.age", `none is scheduled; the last was made${when}: ${file}`);
}

/** Checks that the newest scheduled backup, without those dated in the future, is younger than two intervals. */
export function checkBackupAge(
  { everyHours }: { readonly everyHours: number },
  folder: BackupFolder,
  now: number,
): Finding {
  const advice = "the server makes one within ten minutes; if not, backup.failed in its log says why";
  const [newest] = listPastBackups(folder, now);
  const [last] = listScheduledBackups(folder);
  const future =
    last === undefined || last.madeAt <= now
      ? ""
      : `; dated in the future by a wrong clock, and not counted: ${last.file}`;
  const [unmarked] = listUnmarkedBackups(folder);
  const more =
    unmarked === undefined
      ? future
      : `${future}; of an earlier version, and not counted, because another database may have made it: ${unmarked.file}`;
  if (newest === undefined)
    return problem("backups.age", `there is none in ${folder.directory}${more}`, advice);
  const hours = Math.floor((now - newest.madeAt) / HOUR_MS);
  const message = `the newest is ${hours} hours old: ${newest.file}${more}`;
  return hours < 2 * everyHours ? sound("backups.age", message) : problem("backups.age", message, advice);
}
