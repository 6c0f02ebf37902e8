const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** What {@link readTime} reads, for messages. */
export const TIME_FORMS = "a time like 2026-01-31, 2026-01-31T12:00:00Z or 24h (ago)";

/** `90s`, `15m`, `1h` or `7d` in milliseconds; null if it is none of these. */
export function readDuration(text: string): number | null {
  const [, amount, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  return amount === undefined || unit === undefined ? null : Number(amount) * (UNITS[unit] ?? 0);
}

/**
 * A time as commands and pages take it: ISO 8601 (UTC if it names no zone; a day is its first millisecond), or a duration, which means
 * that long ago. Null if it is neither.
 */
export function readTime(text: string, now: number): number | null {
  const ago = readDuration(text);
  if (ago !== null) return now - ago;
  const iso = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)?)?$/.exec(text);
  if (iso === null || !isDay(text.slice(0, 10))) return null;
  const ms = Date.parse(text.replace(" ", "T") + (text.length > 10 && iso[1] === undefined ? "Z" : ""));
  return Number.isNaN(ms) ? null : ms;
}

/** JavaScript reads 30 February as 2 March. */
function isDay(text: string): boolean {
  const ms = Date.parse(text);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text);
}
