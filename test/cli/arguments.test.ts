import { writeFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  confirm,
  parseCount,
  parseDuration,
  parseJson,
  parseMonth,
  parseTime,
  readInput,
} from "../../src/cli/flags/arguments.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

describe("a duration", () => {
  test.each([
    ["0s", 0],
    ["90s", 90_000],
    ["15m", 900_000],
    ["1h", 3_600_000],
    ["7d", 604_800_000],
    ["999999d", 86_399_913_600_000],
  ])("%s is %i ms", (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  test.each(["", "1", "h", "-1h", "1.5h", "1w", "1H", " 1h", "1h ", "1h30m", "1000000d", "٣h"])(
    "%j is refused",
    (text) => {
      expect(() => parseDuration(text)).toThrow(/expected a duration/);
    },
  );
});

describe("a time", () => {
  test.each([
    ["2026-01-31", Date.UTC(2026, 0, 31)],
    ["2028-02-29", Date.UTC(2028, 1, 29)],
    ["2026-01-31T12:00", Date.UTC(2026, 0, 31, 12)],
    ["2026-01-31T12:00:00Z", Date.UTC(2026, 0, 31, 12)],
    ["2026-01-31 12:00:00.5", Date.UTC(2026, 0, 31, 12, 0, 0, 500)],
    ["2026-01-31T12:00:00+02:00", Date.UTC(2026, 0, 31, 10)],
    ["2026-01-31T12:00:00-05:30", Date.UTC(2026, 0, 31, 17, 30)],
  ])("%s is read in UTC if it names no zone", (text, ms) => {
    expect(parseTime(text)).toBe(ms);
  });

  test("that is a duration means that long ago", () => {
    expect(Math.abs(Date.now() - 86_400_000 - parseTime("24h"))).toBeLessThan(10_000);
  });

  test.each([
    "",
    "yesterday",
    "2026",
    "2026-13-01",
    "2026-01-32",
    "2026-02-29",
    "2026-04-31T12:00:00Z",
    "2026-01-31T25:00",
    "31.1.2026",
    "1769860800",
    "2026-01-31T12:00:00 Z",
  ])("%j is refused", (text) => {
    expect(() => parseTime(text)).toThrow(/expected a time/);
  });

  test("is read back from what JavaScript writes", () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date(0), max: new Date(Date.UTC(9999, 0)), noInvalidDate: true }),
        (date) => {
          expect(parseTime(date.toISOString())).toBe(date.getTime());
        },
      ),
    );
  });
});

test.each([
  ["1", 1],
  ["1000", 1000],
  ["0001", 1],
])("the count %s is %i", (text, count) => {
  expect(parseCount(1000)(text)).toBe(count);
});

test.each(["", "0", "1001", "-1", "1.0", "1e3", "0x10", " 1", "99999999999999999999"])(
  "the count %j is refused",
  (text) => {
    expect(() => parseCount(1000)(text)).toThrow(/1 to 1000/);
  },
);

test.each(["2026-01", "2026-12", "0000-01"])("the month %s is taken", (text) => {
  expect(parseMonth(text)).toBe(text);
});

test.each(["2026-00", "2026-13", "2026-1", "26-01", "2026-01-01", ""])("the month %j is refused", (text) => {
  expect(() => parseMonth(text)).toThrow(/expected a month/);
});

test("a file is read without its byte order mark, and one that is too large or cannot be read is refused", () => {
  const folder = temporaryFolder();
  const file = join(folder, "a.json");
  writeFileSync(file, "\uFEFF{}");
  expect(readInput(file)).toBe("{}");
  writeFileSync(file, "x".repeat(4_194_305));
  expect(() => readInput(file)).toThrow(expect.objectContaining({ code: "usage" }) as Error);
  for (const path of [folder, join(folder, "none")]) {
    expect(() => readInput(path)).toThrow(expect.objectContaining({ code: "usage" }) as Error);
  }
});

test("text that is not JSON is refused with its source", () => {
  expect(parseJson("[1]", "schema.json")).toEqual([1]);
  expect(() => parseJson('{"token":\ngeheim}', "schema.json")).toThrow(
    /^schema\.json: not JSON \(line 2, column 1: Unexpected token 'g'\)$/,
  );
});

test("nobody is asked if standard input is no terminal: --yes must be given", async () => {
  await expect(confirm("Delete it?", false)).rejects.toMatchObject({ code: "usage" });
  await expect(confirm("Delete it?", true)).resolves.toBeUndefined();
});
