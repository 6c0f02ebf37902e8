import {
  createRateLimiter,
  createRateWindows,
  MAX_WINDOWS,
  type RateLimiter,
  type RateWindow,
} from "./rate-limit.ts";

/** The part of a unit's count on this server that was not reported to the others before. */
export interface UnreportedCount {
  readonly unit: string;
  readonly count: number;
  /** Milliseconds until the window ends. */
  readonly leftMs: number;
}

/** The sum of what all servers have reported about a unit's window. */
export interface ReportedSum {
  readonly unit: string;
  readonly used: number;
  /** Milliseconds until the window ends. */
  readonly leftMs: number;
}

/** A limiter whose limits several servers share. It knows the counts of the others as of the last call of {@link hear}. */
export interface JointRateLimiter extends RateLimiter {
  /**
   * Returns the counts that the other servers need: of units that passed this server's share of the limit, and of units that another server
   * has reported. They count as reported from then on. A server that is alone returns nothing.
   *
   * @param servers the number of servers that share the limits
   */
  report(servers: number): UnreportedCount[];
  /** Takes back a report that did not reach the others. Its counts are reported again. */
  takeBack(counts: readonly UnreportedCount[]): void;
  hear(sums: readonly ReportedSum[]): void;
}

/**
 * A server reports a unit when it has counted more than a quarter of the limit, or more than an equal share if more than four servers share
 * it. So as long as no server reports, all together are within the limit, and most units cost nothing but memory.
 */
const REPORTED_FROM = 4;

export function createJointRateLimiter(nowMs: () => number = () => performance.now()): JointRateLimiter {
  const windows = createRateWindows();
  const limiter = createRateLimiter(nowMs, windows);
  /** The part of a window's `used` that the others know. It has entries for shared windows only. */
  const reported = new WeakMap<RateWindow, number>();
  /** The units that were counted since the last report, with their limit. */
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
