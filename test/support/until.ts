import { setTimeout as sleep } from "node:timers/promises";

/** The longest wait for anything that a test waits for; far above what it takes, so that a busy machine fails no test. */
export const PATIENCE_MS = 60_000;

/** Looks every 10 ms until it finds anything but false, null or undefined. @throws with the text of `look` after {@link PATIENCE_MS} */
export async function until<Found>(
  look: () => Found | Promise<Found>,
): Promise<Exclude<Found, false | null | undefined>> {
  const deadline = performance.now() + PATIENCE_MS;
  while (performance.now() < deadline) {
    const found = await look();
    if (found !== false && found !== null && found !== undefined)
      return found as Exclude<Found, false | null | undefined>;
    await sleep(10);
  }
  throw new Error(`not within ${PATIENCE_MS} ms: ${String(look)}`);
}
