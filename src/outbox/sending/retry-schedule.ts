/**
 * How much later than planned a retry may come at most, as a share of its delay. This spreads retries, so that they do not all come at
 * once.
 */
const JITTER_SHARE = 0.25;

export interface RetryQuestion {
  readonly nowMs: number;
  /** The number of attempts that are spent, with the one that just failed; 1 or more. */
  readonly spent: number;
  /** The delays between attempts in seconds; one attempt more than delays is made. */
  readonly scheduleSeconds: readonly number[];
  /** How long the recipient asks us to wait; null if it does not ask. */
  readonly retryAfterMs: number | null;
  /** A number from 0 up to 1 that spreads retries. */
  readonly random: number;
}

/**
 * When the next attempt is due, in whole milliseconds since 1970; null if every attempt is spent. It is never earlier than the schedule or
 * the recipient says, and up to a quarter of the delay later.
 */
export function nextAttemptAt(question: RetryQuestion): number | null {
  const seconds = question.scheduleSeconds[question.spent - 1];
  if (seconds === undefined) return null;
  const delayMs = Math.max(seconds * 1000, question.retryAfterMs ?? 0);
  return question.nowMs + Math.ceil(delayMs * (1 + question.random * JITTER_SHARE));
}

/** The longest time for which {@link nextAttemptAt} plans ahead if the recipient asks for no wait. */
export function longestDelayMs({ scheduleSeconds }: Pick<RetryQuestion, "scheduleSeconds">): number {
  return Math.ceil(Math.max(0, ...scheduleSeconds) * 1000 * (1 + JITTER_SHARE));
}
