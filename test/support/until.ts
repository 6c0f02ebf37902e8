import { setTimeout as sleep } from "node:timers/promises";

/** What comes about within seconds on any machine; far longer than each guarantee, so that noise fails no test. */
const PATIENCE_MS = 15_000;

/** Asks again and again until the answer is anything but false, null or undefined. */
export async function until<Result>(
  ask: () => Result | Promise<Result>,
): Promise<Exclude<Result, false | null | undefined>> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const result = await ask();
    if (result !== false && result !== null && result !== undefined)
      return result as Exclude<Result, false | null | undefined>;
    if (performance.now() > deadline) throw new Error(`still waiting after ${PATIENCE_MS} ms`);
    await sleep(10);
  }
}
