import {
  createRateLimiter,
  createRateWindows,
  MAX_WINDOWS,
  type RateLimiter,
  type RateWindow,
} from "./rate-limit.ts";

/** What a server counted in a unit's window and has not reported before. */
export interface UnreportedCount {
  readonly unit: string;
  readonly count: number;
  /** Until the window ends, in milliseconds. */
  readonly leftMs: number;
}

/** What all servers together have reported of a unit's window. */
export interface ReportedSum {
  readonly unit: string;
  readonly used: number;
  /** Until the window ends, in milliseconds. */
  readonly leftMs: number;
}

/** A limiter whose windows are also counted in by other servers. It knows their counts as of the last {@link hear}. */
export interface JointRateLimiter extends RateLimiter {
  /**
   * What the others should know: the counts of units that are past their share of the limit here, or of which another server has
   * reported. They count as reported. A server that is alone reports nothing.
   *
   * @param servers how many share the limits.
   */
  report(servers: number): UnreportedCount[];
  /** Nobody heard of them: they are reported again. */
  takeBack(counts: readonly UnreportedCount[]): void;
  hear(sums: readonly ReportedSum[]): void;
}

/**
 * A server reports a unit when it has counted more than a quarter of its limit; if more than four servers share it, more than an
 * equal part. So as long as nobody reports, all together are within the limit, and most units cost nothing but memory.
 */
const REPORTED_FROM = 4;

export function createJointRateLimiter(nowMs: () => number = () => performance.now()): JointRateLimiter {
  const windows = createRateWindows();
  const limiter = createRateLimiter(nowMs, windows);
  /** How much of a window's `used` the others know; only of windows that are shared. */
  const reported = new WeakMap<RateWindow, number>();
  /** The units that were counted since they were reported, with the limit. */
  const counted = new Map<string, number>();
  return {
    ...limiter,
    count(unit, limit) {
      if (limit.max !== null && counted.size < MAX_WINDOWS) counted.set(unit, limit.max);
      return limiter.count(unit, limit);
    },
    report(servers) {
      const now = nowMs();
      const counts: UnreportedCount[] = [];
      for (const [unit, max] of counted) {
        const window = windows.get(unit, now);
        if (window === undefined || servers === 1) continue;
        const known = reported.get(window);
        const count = window.used - (known ?? 0);
        if (count === 0 || (known === undefined && count * Math.max(REPORTED_FROM, servers) <= max)) continue;
        reported.set(window, window.used);
        counts.push({ unit, count, leftMs: Math.ceil(window.endsAt - now) });
      }
      counted.clear();
      return counts;
    },
    takeBack(counts) {
      for (const { unit, count } of counts) {
        const window = windows.get(unit, nowMs());
        if (window === undefined) continue;
        reported.set(window, (reported.get(window) ?? 0) - count);
        counted.set(unit, 0);
      }
    },
    hear(sums) {
      const now = nowMs();
      for (const { unit, used, leftMs } of sums) {
        const endsAt = now + leftMs;
        const window = windows.get(unit, now) ?? windows.begin(unit, { used: 0, endsAt });
        const unreported = window.used - (reported.get(window) ?? 0);
        window.used = used + unreported;
        window.endsAt = endsAt;
        reported.set(window, used);
        if (unreported !== 0) counted.set(unit, 0);
      }
    },
  };
}
