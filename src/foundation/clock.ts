import { DAY_MS } from "./time-units.ts";

/**
 * The source of time. Everything that decides by time takes a clock, so that a test can move it. Durations inside one
 * process (timeouts, latencies) use the monotonic `performance.now()` instead.
 */
export interface Clock {
  /** Milliseconds since 1970 UTC, an integer. May jump when the machine's clock is set. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/** The last time that was rendered. It is kept because under load a dozen log lines and messages share a millisecond. */
let rendered = { ms: Number.NaN, text: "" };

/** ISO 8601 UTC with milliseconds and `Z`, the only form in which times leave the program. */
export function toIsoTime(ms: number): string {
  if (ms !== rendered.ms) rendered = { ms, text: new Date(ms).toISOString() };
  return rendered.text;
}

/** The last month that was rendered. It is kept because nearly every post asks for the same one. */
let latest = { month: "", from: 0, until: 0 };

/** The UTC calendar month of a time as `YYYY-MM`; plan limits count by it. */
export function monthOf(ms: number): string {
  if (ms < latest.from || ms >= latest.until) {
    const month = toIsoTime(ms).slice(0, 7);
    latest = { month, from: Date.parse(`${month}-01T00:00:00Z`), until: nextMonthStart(ms) };
  }
  return latest.month;
}

/** The first millisecond of the UTC day. */
export function dayStart(ms: number): number {
  return ms - (((ms % DAY_MS) + DAY_MS) % DAY_MS);
}

/** The first millisecond of the next UTC month. */
export function nextMonthStart(ms: number): number {
  const date = new Date(ms);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
}
