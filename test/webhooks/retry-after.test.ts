import { expect, test } from "vitest";
import { parseRetryAfter, RETRY_AFTER_LIMIT_MS } from "../../src/webhooks/retry-after.ts";

const NOW = Date.UTC(2026, 0, 15, 12);

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

test("the oldest form of an HTTP-date, which names no zone, is in UTC wherever the server is", () => {
  const zone = process.env["TZ"];
  try {
    process.env["TZ"] = "Asia/Kathmandu";
    expect(new Date(NOW).getTimezoneOffset()).toBe(-345);
    expect(parseRetryAfter("Thu Jan 15 12:01:00 2026", NOW)).toBe(60_000);
    expect(parseRetryAfter("Thu Jan  1 12:01:00 2026", Date.UTC(2026, 0, 1, 12))).toBe(60_000);
  } finally {
    if (zone === undefined) delete process.env["TZ"];
    else process.env["TZ"] = zone;
  }
});

test("a Retry-After that is past, negative or no time at all is as if there were none", () => {
  const headers = [null, "", "0", "-1", "1.5", "1e9", "soon", "2026-01-16T00:00:00Z"];
  headers.push(new Date(NOW - 1000).toUTCString(), "Thu", `Thu${" ".repeat(100_000)}`);
  for (const header of headers) expect(parseRetryAfter(header, NOW), String(header)).toBeNull();
});
