import type { Clock } from "../../foundation/clock.ts";
import { checkpointFailed } from "../../foundation/events.ts";
import type { Log } from "../../foundation/log.ts";
import { NOTHING_TO_CONFIRM } from "../confirmations.ts";
import { ONLY_SERVER } from "../live-servers.ts";
import type { ServedDatabase } from "../served-database.ts";
import type { LogCopier } from "./copy-log.ts";
import { freeBytes } from "./database-health.ts";
import type { BackupSettings } from "./backup-schedule.ts";
import { measureDatabase } from "./database-metrics.ts";
import { createLogCleaner } from "./empty-log.ts";
import { hasLitestream } from "./litestream.ts";
import type { SqliteDatabase } from "./sqlite-database.ts";
import { createWritability } from "./write-probe.ts";

/**
 * The server does not wait for another process inside a statement, because everything else would wait too. The commit queue tries again
 * instead.
 */
const SERVER_BUSY_TIMEOUT_MS = 10;

interface FileParts {
  readonly db: SqliteDatabase;
  readonly backup: BackupSettings;
  readonly clock: Clock;
  readonly log: Log;
  readonly copier: LogCopier;
}

/** Implements the port for a file, which has only one server. */
export function serveFile({ db, backup, clock, log, copier }: FileParts): ServedDatabase {
  return {
    liveServers: ONLY_SERVER,
    confirmations: NOTHING_TO_CONFIRM,
    writability: createWritability(db),
    cleaner: createLogCleaner(db, copier),
    freeBytes: () => freeBytes(db),
    // All heads may have changed, whatever another process committed.
    watch: (listener) => db.watch([listener]),
    notifyOthers() {},
    measure: (metrics) => measureDatabase(metrics, db, backup, clock),
    begin: async () => void db.pragma(`busy_timeout = ${SERVER_BUSY_TIMEOUT_MS}`),
    async end() {
      await copier.close();
      checkpoint(db, log);
    },
  };
}

/**
 * Closes the database into a single file if nobody else has it open. If a reader prevents it, the next start does it. Under Litestream it
 * is not done, because Litestream does this itself and would have to copy the whole file again.
 */
function checkpoint(db: SqliteDatabase, log: Log): void {
  try {
    if (!hasLitestream(db)) db.pragma("wal_checkpoint(TRUNCATE)");
  } catch (error) {
    checkpointFailed(log, error);
  }
}
