import { expect, test } from "vitest";
import { createZonedClock, localTime, offsetTime } from "../../src/foundation/zoned-time.ts";

test.each([
  ["UTC", "2026-01-31T23:59:59.999Z", "2026-01-31 23:59:59", "2026-01-31T23:59:59.999+00:00"],
  ["Europe/Berlin", "2026-03-29T00:59:59.000Z", "2026-03-29 01:59:59", "2026-03-29T01:59:59.000+01:00"],
  ["Europe/Berlin", "2026-03-29T01:00:00.000Z", "2026-03-29 03:00:00", "2026-03-29T03:00:00.000+02:00"],
  ["America/St_Johns", "2026-12-31T23:59:00.000Z", "2026-12-31 20:29:00", "2026-12-31T20:29:00.000-03:30"],
  ["Asia/Kathmandu", "2026-12-31T23:59:00.000Z", "2027-01-01 05:44:00", "2027-01-01T05:44:00.000+05:45"],
])("in %s %s is %s", (zone, time, local, withOffset) => {
  const clock = createZonedClock(zone);
  expect([localTime(clock, Date.parse(time)), offsetTime(clock, Date.parse(time))]).toEqual([
    local,
    withOffset,
  ]);
});

test("a clock that is asked again and again, forward and back, shows what a new one shows", () => {
  const clock = createZonedClock("Europe/Berlin");
  const begin = Date.parse("2026-10-24T22:00:00Z");
  for (let step = 0; step < 100; step += 1) {
    const time = begin + ((step * 37) % 100) * 211_000;
    expect(offsetTime(clock, time)).toBe(offsetTime(createZonedClock("Europe/Berlin"), time));
  }
});
