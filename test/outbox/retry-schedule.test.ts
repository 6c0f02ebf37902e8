import * as fc from "fast-check";
import { expect, test } from "vitest";
import { nextAttemptAt } from "../../src/outbox/sending/retry-schedule.ts";
import { DAY_MS } from "../../src/foundation/time-units.ts";

const NOW = Date.UTC(2026, 0, 15, 12);
const CONTRACT = [5, 30, 120, 600, 1800, 3600, 7200, 14400, 28800, 43200, 86400, 86400];

test("a message gets thirteen attempts, spread over three days and a few hours", () => {
  let nowMs = NOW;
  let spent = 1;
  for (;;) {
    const next = nextAttemptAt({ nowMs, spent, scheduleSeconds: CONTRACT, retryAfterMs: null, random: 0 });
    if (next === null) break;
    nowMs = next;
    spent += 1;
  }
  expect(spent).toBe(13);
  expect(nowMs - NOW).toBe(CONTRACT.reduce((sum, seconds) => sum + seconds * 1000, 0));
});

test("a retry is a whole millisecond, never earlier than planned and at most a quarter later", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 12 }),
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      fc.option(fc.integer({ min: 1, max: DAY_MS })),
      (spent, random, retryAfterMs) => {
        const next = nextAttemptAt({ nowMs: NOW, spent, scheduleSeconds: CONTRACT, retryAfterMs, random });
        const planned = Math.max(CONTRACT[spent - 1]! * 1000, retryAfterMs ?? 0);
        expect(Number.isInteger(next)).toBe(true);
        expect(next! - NOW).toBeGreaterThanOrEqual(planned);
        expect(next! - NOW).toBeLessThanOrEqual(Math.ceil(planned * 1.25));
      },
    ),
  );
});
