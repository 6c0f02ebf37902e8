import { expect, test } from "vitest";
import { createZonedClock } from "../../src/foundation/zoned-time.ts";
import { readImportDay, readImportTime } from "../../src/submissions/import/read-import-time.ts";

const berlin = createZonedClock("Europe/Berlin");

test.each([
  ["2026-01-31T14:05:06.789Z", "2026-01-31T14:05:06.789Z"],
  ["2018-11-03T07:28:29.707632", "2018-11-03T06:28:29.707Z"],
  ["2026-01-31 14:05", "2026-01-31T13:05:00.000Z"],
  ["2026-07-01", "2026-06-30T22:00:00.000Z"],
  ["2026-01-31T14:05:00+05:30", "2026-01-31T08:35:00.000Z"],
  ["2026/01/31 2:05:06 PM GMT+1", "2026-01-31T13:05:06.000Z"],
  ["2026/01/31 12:05:06 AM GMT-7", "2026-01-31T07:05:06.000Z"],
  ["31.01.2026 14:05:06", "2026-01-31T13:05:06.000Z"],
  ["1/31/2026 14:05:06", "2026-01-31T13:05:06.000Z"],
  ["2026-01-31 14:05:06 UTC", "2026-01-31T14:05:06.000Z"],
  ["2026-10-25 02:30:00", "2026-10-25T00:30:00.000Z"],
  ["2026-03-29 02:30:00", "2026-03-29T01:30:00.000Z"],
])("%s is %s", (text, time) => {
  expect(new Date(readImportTime(text, berlin) ?? 0).toISOString()).toBe(time);
});

test.each([
  "",
  "yesterday",
  "31/1/2026 10:00",
  "2026-02-30",
  "2026-01-31 25:00",
  "2026-01-31 14:61",
  "2026-01-31 13:00 PM",
  "2026-01-31 10:00 Mars",
  "99999999999",
])("%j is no time", (text) => {
  expect(readImportTime(text, berlin)).toBeNull();
});

test.each([
  ["2026-11-30", "2026-11-30"],
  ["2026/2/3", "2026-02-03"],
  ["30.11.2026", "2026-11-30"],
  [" 3. 2. 2026 ", "2026-02-03"],
  ["29.2.2028", "2028-02-29"],
  // Nobody can tell which is the month.
  ["11/10/2026", null],
  ["31/12/2026", null],
  ["31.11.2026", null],
  ["29.2.2026", null],
  ["30.11.26", null],
  ["30.11.2026 14:05", null],
  ["2026-11", null],
  ["", null],
])("%j in the column of a date is the day %j", (text, day) => {
  expect(readImportDay(text)).toBe(day);
});
