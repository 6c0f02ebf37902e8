import type { ZonedClock } from "../../foundation/zoned-time.ts";
import { DAY_MS, MINUTE_MS } from "../../foundation/time-units.ts";

/** A date with the year first. The time of the day, AM or PM, and the zone are optional. */
const YEAR_FIRST =
  /^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?:[T ,]+(\d{1,2}):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?)?\s*([AP]M)?\s*(\S+)?$/i;
const DAY_FIRST =
  /^(\d{1,2})\.(\d{1,2})\.(\d{4})(?:[T ,]+(\d{1,2}):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?)?\s*([AP]M)?\s*(\S+)?$/i;
const MONTH_FIRST =
  /^(\d{1,2})\/(\d{1,2})\/(\d{4})(?:[T ,]+(\d{1,2}):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?)?\s*([AP]M)?\s*(\S+)?$/i;

/**
 * The largest length of a text that may be a time, in UTF-16 units. The longest real ones are half as long; the forms take time with the
 * square of the length if many blanks stand in the middle.
 */
const MAX_LENGTH = 100;

/** The positions of year, month and day in each form. */
const FORMS = [
  [YEAR_FIRST, [0, 1, 2]],
  [DAY_FIRST, [2, 1, 0]],
  [MONTH_FIRST, [2, 0, 1]],
] as const;

/**
 * Reads a time as tables write it: `2026-01-31T14:05:00Z`, `2026/01/31 2:05:00 PM GMT+1`, `31.01.2026 14:05`, `1/31/2026 14:05` (month
 * first).
 *
 * @param clock the time zone of times without one. @returns milliseconds since 1970 UTC; null if the text is not a time
 */
export function readImportTime(text: string, clock: ZonedClock): number | null {
  const given = text.trim();
  if (given.length > MAX_LENGTH) return null;
  for (const [form, [year, month, day]] of FORMS) {
    const found = form.exec(given);
    if (found === null) continue;
    const [, ...parts] = found;
    const number = (index: number): number => Number(parts[index] ?? 0);
    const hour = hourOf(number(3), parts[7]);
    const local = utcOf([number(year), number(month), number(day), hour, number(4), number(5)]);
    if (local === null) return null;
    const ms = local + Math.floor(Number(`0.${parts[6] ?? 0}`) * 1000);
    const zone = parts[8];
    if (zone === undefined) return zonedTime(ms, clock);
    const offset = offsetOf(zone);
    return offset === null ? null : ms - offset;
  }
  return null;
}

const DAYS = [
  [/^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})$/, [1, 2, 3]],
  [/^(\d{1,2})\. ?(\d{1,2})\. ?(\d{4})$/, [3, 2, 1]],
] as const;

/**
 * Reads a day as tables write it, and returns it as an input of type `date` sends it: `30.11.2026` becomes `2026-11-30`. Returns null if
 * the text is not a day, and for `11/10/2026`, because nobody can tell which number is the month.
 */
export function readImportDay(text: string): string | null {
  for (const [form, [year, month, day]] of DAYS) {
    const found = form.exec(text.trim());
    if (found === null) continue;
    const time = utcOf([Number(found[year]), Number(found[month]), Number(found[day])]);
    return time === null ? null : new Date(time).toISOString().slice(0, 10);
  }
  return null;
}

function hourOf(hour: number, half: string | undefined): number {
  if (half === undefined) return hour;
  if (hour < 1 || hour > 12) return -1;
  return (hour % 12) + (half.toUpperCase() === "PM" ? 12 : 0);
}

/** Returns null for a day or a time of the day that does not exist. */
function utcOf([year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0]: readonly number[]):
  | number
  | null {
  const ms = Date.UTC(year, month - 1, day, hour, minute, second);
  const date = new Date(ms);
  const isSame = date.getUTCMonth() === month - 1 && date.getUTCDate() === day && date.getUTCHours() === hour;
  return isSame && minute < 60 && second < 60 ? ms : null;
}

/**
 * Converts a local time to UTC. If the clocks show a time twice, the first is meant. A time that they skip becomes later by the length of
 * the gap.
 */
function zonedTime(local: number, clock: ZonedClock): number {
  const before = local - clock.offsetMs(local - DAY_MS);
  const after = local - clock.offsetMs(local + DAY_MS);
  const shown = [before, after].filter((time) => time + clock.offsetMs(time) === local);
  return shown.length === 0 ? before : Math.min(...shown);
}

/** The offset of a zone from UTC, in milliseconds; positive if ahead of UTC. Null if the text is not a zone. */
function offsetOf(zone: string): number | null {
  if (/^(?:Z|UTC|GMT)$/i.test(zone)) return 0;
  const found = /^(?:UTC|GMT)?([+-])(\d{1,2}):?(\d\d)?$/i.exec(zone);
  if (found === null) return null;
  const [, sign, hours = "0", minutes = "0"] = found;
  return (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * MINUTE_MS;
}
