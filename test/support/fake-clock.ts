import type { Clock } from "../../src/foundation/clock.ts";

/** A clock that stands still until it is moved. */
export interface FakeClock extends Clock {
  set(ms: number): void;
  advance(ms: number): void;
}

/** A time in the middle of a month, so that no test reaches the end of the month by accident. */
export const NOON = Date.UTC(2026, 5, 15, 12);

export function createFakeClock(start: number = NOON): FakeClock {
  let time = start;
  return {
    now: () => time,
    set: (ms) => void (time = ms),
    advance: (ms) => void (time += ms),
  };
}
