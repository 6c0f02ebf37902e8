import { setTimeout as sleep } from "node:timers/promises";

/** The longest wait for anything in a test. It is far longer than anything takes, so that no test fails because the machine is busy. */
export const PATIENCE_MS = 60_000;

const LEAST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 100;

/**
 * Calls `look`, first every 10 ms, until it returns anything but false, null or undefined. The pauses become longer with the wait, up to
 * 100 ms, because a look may ask a server or a database. @throws with the text of `look` after {@link PATIENCE_MS}
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

/** The pause before the next look. At most a twentieth of the wait is lost. */
function pauseAfter(waitedMs: number): number {
  return Math.min(Math.max(waitedMs / 20, LEAST_PAUSE_MS), LONGEST_PAUSE_MS);
}
