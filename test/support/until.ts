import { setTimeout as sleep } from "node:timers/promises";

/** The longest wait for anything that a test waits for; far above what it takes, so that a busy machine fails no test. */
export const PATIENCE_MS = 60_000;

const LEAST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 100;

/**
 * Looks every 10 ms until it finds anything but false, null or undefined. Who looks by asking a server or a database takes its time, and
 * asks less often the longer it takes. @throws with the text of `look` after {@link PATIENCE_MS}
 */
export async function until<Found>(
  look: () => Found | Promise<Found>,
): Promise<Exclude<Found, false | null | undefined>> {
  const begun = performance.now();
  for (let waitedMs = 0; waitedMs < PATIENCE_MS; waitedMs = performance.now() - begun) {
    const looking = look();
    const found = await looking;
    if (found !== false && found !== null && found !== undefined)
      return found as Exclude<Found, false | null | undefined>;
    await sleep(looking instanceof Promise ? pauseAfter(waitedMs) : LEAST_PAUSE_MS);
  }
  throw new Error(`not within ${PATIENCE_MS} ms: ${String(look)}`);
}

/** A twentieth of the wait is lost at most. */
function pauseAfter(waitedMs: number): number {
  return Math.min(Math.max(waitedMs / 20, LEAST_PAUSE_MS), LONGEST_PAUSE_MS);
}
