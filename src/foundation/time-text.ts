import { DAY_MS, HOUR_MS, MINUTE_MS } from "./time-units.ts";

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: MINUTE_MS, h: HOUR_MS, d: DAY_MS };

/** The forms that {@link readTime} reads, for messages. */
export const TIME_FORMS = "a time like 2026-01-31, 2026-01-31T12:00:00Z or 24h (ago)";

/** Reads `90s`, `15m`, `1h` or `7d` as milliseconds; null for any other text. */
export function readDuration(text: string): number | null {
  const [, amount, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  return amount === undefined || unit === undefined ? null : Number(amount) * (UNITS[unit] ?? 0);
}

/**
 * Reads a time as commands and pages accept it, in milliseconds since 1970 UTC. It is ISO 8601 (UTC if it names no zone; a day means its
 * first millisecond), or a duration before `now`. Null if the text is neither.
 */
export function readTime(text: string, now: number): number | null {
  const ago = readDuration(text);
  if (ago !== null) return now - ago;
  const iso = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)?)?$/.exec(text);
  if (iso === null || !isDay(text.slice(0, 10))) return null;
  const ms = Date.parse(text.replace(" ", "T") + (text.length > 10 && iso[1] === undefined ? "Z" : ""));
  return Number.isNaN(ms) ? null : ms;
}

/** Whether a date exists: JavaScript reads 30 February as 2 March. */
function isDay(text: string): boolean {
  const ms = Date.parse(text);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text);
}
