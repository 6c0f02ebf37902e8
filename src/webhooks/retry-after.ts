import { DAY_MS } from "../foundation/time-units.ts";

/** The longest wait that a receiver can ask for with `Retry-After`; a longer one would not help the owner. */
export const RETRY_AFTER_LIMIT_MS = DAY_MS;

/** A date with more characters than the longest legal HTTP-date is not one. */
const HTTP_DATE_MAX_LENGTH = 40;

/**
 * The wait that a `Retry-After` header asks for in whole milliseconds, at most {@link RETRY_AFTER_LIMIT_MS}. Null for
 * no header, a time that is past, and anything that is neither seconds nor an HTTP-date.
 */
export function parseRetryAfter(header: string | null, nowMs: number): number | null {
  if (header === null) return null;
  const text = header.trim();
  const waitMs = /^\d+$/.test(text) ? Number(text) * 1000 : dateOf(text) - nowMs;
  if (!(waitMs > 0)) return null;
  return Math.min(waitMs, RETRY_AFTER_LIMIT_MS);
}

/** NaN when the text does not begin with a day's name, as each of the three forms of an HTTP-date does. */
function dateOf(text: string): number {
  if (text.length > HTTP_DATE_MAX_LENGTH || !/^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(text)) return Number.NaN;
  return Date.parse(text);
}
