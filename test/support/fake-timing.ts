import type { Timing } from "../../src/mail/letters/letters.ts";

/** A monotonic time that stands still until it is moved. Work that is due at once still runs by itself. */
export interface FakeTiming extends Timing {
  /** Moves the time, and runs the work that is due by then. */
  advance(ms: number): void;
  /** The time of the next wake-up in milliseconds; undefined if none is planned. */
  nextAt(): number | undefined;
}

export function createFakeTiming(): FakeTiming {
  let now = 0;
  const planned = new Map<symbol, { readonly at: number; readonly work: () => void }>();
  return {
    nowMs: () => now,
    wakeIn(ms, work) {
      const key = Symbol("wake");
      const run = (): void => {
        if (planned.delete(key)) work();
      };
      planned.set(key, { at: now + ms, work: run });
      if (ms <= 0) setImmediate(run);
      return () => void planned.delete(key);
    },
    nextAt: () => [...planned.values()].map(({ at }) => at).toSorted((one, other) => one - other)[0],
    advance(ms) {
      now += ms;
      for (const { at, work } of planned.values()) if (at <= now) work();
    },
  };
}
