import { statSync } from "node:fs";
import type { Clock } from "../../foundation/clock.ts";
import type { Metrics } from "../../foundation/metrics.ts";
import { backupFolder } from "./backup-folder.ts";
import { type BackupSettings, listPastBackups } from "./backup-schedule.ts";
import type { SqliteDatabase } from "./sqlite-database.ts";

export function measureDatabase(
  metrics: Metrics,
  db: SqliteDatabase,
  backup: BackupSettings,
  clock: Clock,
): void {
  const startedAt = clock.now();
  metrics.gauge("formsvc_database_bytes", "Size of the database file.", () => sizeOf(db.path));
  metrics.gauge("formsvc_database_log_bytes", "Size of the write-ahead log.", () => sizeOf(`${db.path}-wal`));
  metrics.gauge(
    "formsvc_backup_age_seconds",
    "Age of the newest scheduled backup; while there is none yet, of the server.",
    () => {
      const now = clock.now();
      const newest = listPastBackups(backupFolder(backup, db.path), now)[0];
      // Counts from the start if no backup was ever made, so that an alert on the age works then too.
      const since = newest?.madeAt ?? (backup.everyHours === null ? null : startedAt);
      return since === null ? null : (now - since) / 1000;
    },
  );
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
