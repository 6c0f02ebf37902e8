import { DAY_MS } from "../foundation/time-units.ts";

/** The longest wait that a receiver can ask for with `Retry-After`; a longer one would not help the owner. */
export const RETRY_AFTER_LIMIT_MS = DAY_MS;

/** A text with more characters than the longest legal HTTP-date is not a date. */
const HTTP_DATE_MAX_LENGTH = 40;

/**
 * The wait in whole milliseconds that a `Retry-After` header asks for, at most {@link RETRY_AFTER_LIMIT_MS}. Null if there is no header, if
 * the time is past, or if the value is neither seconds nor an HTTP-date.
 */
export function parseRetryAfter(header: string | null, nowMs: number): number | null {
  if (header === null) return null;
  const text = header.trim();
  const waitMs = /^\d+$/.test(text) ? Number(text) * 1000 : dateOf(text) - nowMs;
  if (!(waitMs > 0)) return null;
  return Math.min(waitMs, RETRY_AFTER_LIMIT_MS);
}

/** A date in milliseconds since 1970. NaN if the text does not begin with the name of a day, as all three forms of an HTTP-date do. */
function dateOf(text: string): number {
  if (text.length > HTTP_DATE_MAX_LENGTH || !/^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(text)) return Number.NaN;
  // The oldest form, like `Sun Nov  6 08:49:37 1994`, names no zone and is in UTC too; it would be read as a local time.
  return Date.parse(/:\d\d \d{4}$/.test(text) ? `${text} GMT` : text);
}
