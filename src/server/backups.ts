import type { Config } from "../config/config.ts";
import { backupFolder } from "../database/sqlite/backup-folder.ts";
import { createBackupScheduler } from "../database/sqlite/backup-schedule.ts";
import { openBackupSocket } from "../database/sqlite/backup-socket.ts";
import type { SqliteDatabase } from "../database/sqlite/sqlite-database.ts";
import type { Clock } from "../foundation/clock.ts";
import type { Log } from "../foundation/log.ts";
import { type ChildRun, runSelf } from "./run-self.ts";

export interface BackupParts {
  readonly config: Config;
  /** The value of `--config`; null if it was not given. */
  readonly configFile: string | null;
  readonly clock: Clock;
  readonly log: Log;
}

/** The backups of a database file: those of the schedule, and those that commands ask for. */
export interface Backups {
  /** Call every minute. */
  look(): void;
  /** Cancels a backup that is being made. */
  stop(): Promise<void>;
}

export async function startBackups(
  db: SqliteDatabase,
  { config, configFile, clock, log }: BackupParts,
): Promise<Backups> {
  const socket = await openBackupSocket(db);
  let child: ChildRun | null = null;
  const make = (file: string): Promise<void> => {
    const options = configFile === null ? [] : ["--config", configFile];
    child = runSelf(["backup", file, "--db", db.path, "--quiet", ...options]);
    return child.done;
  };
  const folder = backupFolder(config.backup, config.database.path);
  const scheduler = createBackupScheduler({ settings: config.backup, folder, make, clock, log });
  return {
    look: () => scheduler.look(),
    async stop() {
      scheduler.giveUp();
      child?.stop();
      await socket?.close();
      await scheduler.settle();
    },
  };
}
