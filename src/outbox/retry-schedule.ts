/** How much later than planned a retry may come, as a share of its delay, so that receivers are not hit in step. */
const JITTER_SHARE = 0.25;

/** The longest wait a receiver can ask for with `Retry-After`; past it the plan's own pace is kinder to the owner. */
export const RETRY_AFTER_LIMIT_MS = 24 * 3_600_000;

/** A date with more characters than the longest legal HTTP-date is not one. */
const HTTP_DATE_MAX_LENGTH = 40;

export interface RetryQuestion {
  readonly nowMs: number;
  /** How many of the message's attempts are spent, the one that just failed included; 1 or more. */
  readonly spent: number;
  /** The delays between attempts in seconds; one attempt more than delays is made. */
  readonly scheduleSeconds: readonly number[];
  /** What the receiver asked for, from {@link parseRetryAfter}. */
  readonly retryAfterMs: number | null;
  /** A number from 0 up to 1 that spreads retries. */
  readonly random: number;
}

/**
 * When the next attempt is due, in whole milliseconds since 1970, or null when every attempt is spent. Never earlier
 * than the schedule or the receiver says, and up to a quarter of the delay later.
 */
export function nextAttemptAt(question: RetryQuestion): number | null {
  const seconds = question.scheduleSeconds[question.spent - 1];
  if (seconds === undefined) return null;
  const delayMs = Math.max(seconds * 1000, question.retryAfterMs ?? 0);
  return question.nowMs + Math.ceil(delayMs * (1 + question.random * JITTER_SHARE));
}

/**
 * The wait that a `Retry-After` header asks for in whole milliseconds, at most {@link RETRY_AFTER_LIMIT_MS}. Null for
 * no header, a time that is past, and anything that is neither seconds nor an HTTP-date.
 */
export function parseRetryAfter(header: string | null, nowMs: number): number | null {
  const text = header?.trim() ?? "";
  const waitMs = /^\d+$/.test(text) ? Number(text) * 1000 : dateOf(text) - nowMs;
  if (!(waitMs > 0)) return null;
  return Math.min(waitMs, RETRY_AFTER_LIMIT_MS);
}

/** NaN when the text does not begin with a day's name, as each of the three forms of an HTTP-date does. */
function dateOf(text: string): number {
  if (text.length > HTTP_DATE_MAX_LENGTH || !/^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(text)) return Number.NaN;
  return Date.parse(text);
}
