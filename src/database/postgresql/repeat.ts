import { setTimeout as pause } from "node:timers/promises";
import { type Doubling, doubled } from "../../foundation/doubling.ts";

export interface Repetition {
  readonly pauses: Doubling;
  /** Time after which work is not tried again, in milliseconds. */
  readonly patienceMs: number;
  /** Whether work that failed in this way may succeed later. */
  readonly mayPass: (error: unknown) => boolean;
}

/**
 * Runs work until it succeeds, and passes its last error on. Pauses are lengthened at random, up to twice: after equal ones, two
 * transactions would be in each other's way again.
 */
export async function repeat<Result>(
  work: () => Promise<Result>,
  { pauses, patienceMs, mayPass }: Repetition,
): Promise<Result> {
  const endsAt = performance.now() + patienceMs;
  for (let earlier = 0; ; earlier += 1) {
    try {
      return await work();
    } catch (error) {
      const leftMs = endsAt - performance.now();
      if (leftMs <= 0 || !mayPass(error)) throw error;
      await pause(Math.min((1 + Math.random()) * doubled(pauses, earlier), pauses.longestMs, leftMs));
    }
  }
}
