import { setImmediate as nextTurn } from "node:timers/promises";
import type { SubmitService } from "../app/submit-service.ts";
import type { Upkeep } from "../app/upkeep.ts";
import type { Config } from "../config/config.ts";
import type { AnyDatabase } from "../database/any-database.ts";
import { isFirst } from "../database/live-servers.ts";
import { SingleFlight } from "../foundation/single-flight.ts";
import type { Clock } from "../foundation/clock.ts";
import { maintenanceFailed, submissionsExpired } from "../foundation/events.ts";
import type { Log } from "../foundation/log.ts";
import { startBackups } from "./backups.ts";
import { openLimitLetters } from "./open-limit-letters.ts";
import { openOperatorAlert } from "./open-operator-alert.ts";

const CHORES_INTERVAL_MS = 60_000;
/** The time between two checks of an idle server for changes by commands; each request makes a check too. */
const NOTICE_INTERVAL_MS = 1000;
/**
 * The largest number of batches that one clean-up runs in a row; the rest follows a minute later. With 500 rows a batch, the clean-up keeps
 * up with 8,000 posts a second.
 */
const MAX_BATCHES = 1000;

/** The regular work of a server besides answering requests. */
export interface ServerChores {
  /** Ends the work under way, and cancels a backup that is being made. */
  stop(): Promise<void>;
}

export interface ServerChoresParts {
  readonly db: AnyDatabase;
  readonly config: Config;
  /** The value of `--config`; null if it was not given. */
  readonly configFile: string | null;
  readonly service: SubmitService;
  readonly clock: Clock;
  readonly log: Log;
}

export async function startChores(parts: ServerChoresParts): Promise<ServerChores> {
  const { db, service, log } = parts;
  const alert = await openOperatorAlert(parts);
  const limitLetters = await openLimitLetters(parts);
  // PostgreSQL is backed up with its own tools.
  const backups = db.engine === "sqlite" ? await startBackups(db, parts) : null;
  let stopping = false;
  const cleaning = new SingleFlight();
  const look = (): void => {
    backups?.look();
    if (!isFirst(service.served.liveServers)) return;
    alert?.look();
    // While commits wait for a lost standby, each clean-up would wait and fail.
    if (service.served.writability.awaitsStandby()) return;
    limitLetters?.look();
    void cleaning.run(() => cleanUp(service.upkeep, () => stopping, log));
  };
  look();
  const timer = setInterval(look, CHORES_INTERVAL_MS);
  const noticing = setInterval(() => tryTo(service.posts.noticeChanges, log), NOTICE_INTERVAL_MS);
  return {
    async stop() {
      stopping = true;
      clearInterval(timer);
      clearInterval(noticing);
      const backedUp = backups?.stop();
      await cleaning.settle();
      await alert?.stop();
      await limitLetters?.stop();
      await backedUp;
    },
  };
}

function tryTo(work: () => void, log: Log): void {
  try {
    work();
  } catch (error) {
    maintenanceFailed(log, error);
  }
}

/** Runs all clean-ups, one after the other. Never rejects. */
async function cleanUp(upkeep: Upkeep, isStopping: () => boolean, log: Log): Promise<void> {
  if (await mayFollowClock(upkeep, log)) {
    for (const work of upkeep.cleanUps) await repeat(work, isStopping, log);
    const expired = await repeat(upkeep.expire, isStopping, log);
    if (expired > 0) submissionsExpired(log, expired);
  }
  for (const work of upkeep.ageless) await repeat(work, isStopping, log);
  upkeep.clearLog();
}

async function mayFollowClock(upkeep: Upkeep, log: Log): Promise<boolean> {
  try {
    return await upkeep.trustsClock();
  } catch (error) {
    maintenanceFailed(log, error);
    return false;
  }
}

/**
 * Runs small transactions until there is nothing left to delete; posts get their turn between two of them. Returns the number of deleted
 * rows.
 */
async function repeat(work: () => Promise<number>, isStopping: () => boolean, log: Log): Promise<number> {
  let deleted = 0;
  try {
    for (let batch = 0; batch < MAX_BATCHES && !isStopping(); batch += 1) {
      const some = await work();
      deleted += some;
      if (some === 0) break;
      await nextTurn();
    }
  } catch (error) {
    maintenanceFailed(log, error);
  }
  return deleted;
}
