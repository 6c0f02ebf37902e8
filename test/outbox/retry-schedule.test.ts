import * as fc from "fast-check";
import { expect, test } from "vitest";
import { nextAttemptAt, parseRetryAfter, RETRY_AFTER_LIMIT_MS } from "../../src/outbox/retry-schedule.ts";

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
      fc.option(fc.integer({ min: 1, max: RETRY_AFTER_LIMIT_MS })),
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

test("Retry-After is understood as seconds and as an HTTP-date, and is honoured for up to a day", () => {
  const cases: [header: string | null, waitMs: number | null][] = [
    ["120", 120_000],
    [" 7 ", 7000],
    ["86401", RETRY_AFTER_LIMIT_MS],
    ["1000000000", RETRY_AFTER_LIMIT_MS],
    ["9".repeat(400), RETRY_AFTER_LIMIT_MS],
    [new Date(NOW + 90_000).toUTCString(), 90_000],
    ["Thursday, 15-Jan-26 12:01:00 GMT", 60_000],
    ["Thu Jan 15 12:01:00 2026 GMT", 60_000],
    [new Date(NOW + 10 * RETRY_AFTER_LIMIT_MS).toUTCString(), RETRY_AFTER_LIMIT_MS],
  ];
  for (const [header, waitMs] of cases) expect(parseRetryAfter(header, NOW), String(header)).toBe(waitMs);
});

test("a Retry-After that is past, negative or no time at all is as if there were none", () => {
  const headers = [null, "", "0", "-1", "1.5", "1e9", "soon", "2026-01-16T00:00:00Z"];
  headers.push(new Date(NOW - 1000).toUTCString(), "Thu", `Thu${" ".repeat(100_000)}`);
  for (const header of headers) expect(parseRetryAfter(header, NOW), String(header)).toBeNull();
});
