import { statSync } from "node:fs";
import type { Clock } from "../foundation/clock.ts";
import type { Metrics } from "../foundation/metrics.ts";
import { backupFolder, type BackupSettings, listPastBackups } from "./backup-schedule.ts";
import type { Database } from "./database.ts";

export function measureDatabase(metrics: Metrics, db: Database, backup: BackupSettings, clock: Clock): void {
  metrics.gauge("formsvc_database_bytes", "Size of the database file.", () => sizeOf(db.path));
  metrics.gauge("formsvc_database_log_bytes", "Size of the write-ahead log.", () => sizeOf(`${db.path}-wal`));
  metrics.gauge(
    "formsvc_backup_age_seconds",
    "Age of the newest scheduled backup; none while there is none.",
    () => {
      const now = clock.now();
      const newest = listPastBackups(backupFolder(backup, db.path), now)[0];
      return newest === undefined ? null : (now - newest.madeAt) / 1000;
    },
  );
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
