import * as fc from "fast-check";
import { expect, test } from "vitest";
import { monthOf, nextMonthStart, systemClock, toIsoTime } from "../../src/foundation/clock.ts";

test("times are ISO 8601 in UTC with milliseconds and Z", () => {
  expect(toIsoTime(0)).toBe("1970-01-01T00:00:00.000Z");
  expect(toIsoTime(Date.UTC(2026, 1, 28, 23, 59, 59, 7))).toBe("2026-02-28T23:59:59.007Z");
});

test("the month is the UTC one, and ends when the next one starts", () => {
  expect(monthOf(Date.UTC(2026, 11, 31, 23, 59, 59, 999))).toBe("2026-12");
  expect(nextMonthStart(Date.UTC(2026, 11, 31))).toBe(Date.UTC(2027, 0, 1));
  expect(nextMonthStart(Date.UTC(2028, 1, 29))).toBe(Date.UTC(2028, 2, 1));
  fc.assert(
    fc.property(fc.integer({ min: 0, max: Date.UTC(2199, 0) }), (ms) => {
      const end = nextMonthStart(ms);
      expect(end).toBeGreaterThan(ms);
      expect(monthOf(end - 1)).toBe(monthOf(ms));
      expect(monthOf(end) > monthOf(ms)).toBe(true);
      expect(toIsoTime(end)).toMatch(/-01T00:00:00\.000Z$/);
    }),
  );
});

test("the system's clock is in whole milliseconds", () => {
  expect(Number.isInteger(systemClock.now())).toBe(true);
});
