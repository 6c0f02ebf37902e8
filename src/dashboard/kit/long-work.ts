import { setTimeout as sleep } from "node:timers/promises";
import { maintenanceFailed } from "../../foundation/events.ts";
import type { Log } from "../../foundation/log.ts";

/** Work that takes longer continues after the page was answered. */
const LONGEST_WAIT_MS = 10_000;

/** Returns whether the work ended within this time. @throws the error of the work, if it fails within this time */
export async function doneSoon(work: Promise<unknown>, log: Log): Promise<boolean> {
  const waiting = new AbortController();
  const late = sleep(LONGEST_WAIT_MS, false, { signal: waiting.signal }).catch(() => false);
  const done = work.then(() => true);
  done.catch((error: unknown) => maintenanceFailed(log, error));
  try {
    return await Promise.race([done, late]);
  } finally {
    waiting.abort();
  }
}
