import { monthOf, nextMonthStart } from "../../foundation/clock.ts";
import type { MonthUse } from "../../workspaces/usage-store.ts";

/** The number of months that the page shows, including the present one. */
const SHOWN_MONTHS = 12;

/** The first millisecond of a month `YYYY-MM`. */
export function monthStart(month: string): number {
  return Date.parse(`${month}-01T00:00:00Z`);
}

/** Whether the text is a month that the page can show. */
export function isMonth(text: string): boolean {
  return /^\d{4}-(?:0[1-9]|1[0-2])$/.test(text);
}

/** The last months up to now, oldest first. */
export function lastMonths(now: number): string[] {
  const date = new Date(now);
  return Array.from({ length: SHOWN_MONTHS }, (_, index) =>
    monthOf(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - (SHOWN_MONTHS - 1 - index), 1)),
  );
}

/** All months, with 0 for each month in which nothing was counted. */
export function everyMonth(counted: readonly MonthUse[], months: readonly string[]): MonthUse[] {
  const known = new Map(counted.map(({ month, used }) => [month, used]));
  return months.map((month) => ({ month, used: known.get(month) ?? 0 }));
}

/** A text like `November 2026`. */
export function monthName(month: string): string {
  return new Date(monthStart(month)).toLocaleDateString("en-GB", {
    month: "long",
    year: "numeric",
    timeZone: "UTC",
  });
}

/** The share of a month after which its pace says something. */
const EARLY_SHARE = 0.1;

/**
 * When the limit will be reached if the month goes on at its present pace, in milliseconds since 1970 UTC. Null if that is not in this
 * month, or if it is too early to tell.
 */
export function reachedAt(used: number, limit: number | null, now: number): number | null {
  const start = monthStart(monthOf(now));
  const end = nextMonthStart(now);
  if (limit === null || used === 0 || used >= limit || (now - start) / (end - start) < EARLY_SHARE)
    return null;
  const at = start + ((now - start) / used) * limit;
  return at < end ? at : null;
}
