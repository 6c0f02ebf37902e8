import { BoundedMap } from "./bounded-map.ts";

/** The largest number of requests in a fixed window; null means no limit. */
export interface RateLimit {
  readonly max: number | null;
  readonly windowSeconds: number;
}

/** The state of a window after a counted request. */
export interface RateState {
  readonly allowed: boolean;
  readonly limit: number;
  /** Requests left in the window after this one. */
  readonly remaining: number;
  /** Whole seconds until the window ends, at least 1. */
  readonly resetSeconds: number;
}

/** The largest number of windows in memory. A further one drops the oldest, so the count of its unit starts again at 0. */
export const MAX_WINDOWS = 100_000;

export interface RateWindow {
  used: number;
  /** On the monotonic clock, in milliseconds, so that setting the machine's clock neither frees nor locks anybody. */
  endsAt: number;
}

/** The windows of a limiter by unit, at most {@link MAX_WINDOWS}. */
export interface RateWindows {
  /** The window of a unit; undefined if there is none or it has ended. */
  get(unit: string, now: number): RateWindow | undefined;
  /** Starts a window, which replaces the unit's earlier one. */
  begin(unit: string, window: RateWindow): RateWindow;
}

export interface RateLimiter {
  /** Counts a request; null if the limit is off. */
  count(unit: string, limit: RateLimit): RateState | null;
  /** Takes one counted request back, because the limit does not apply to it after all. */
  giveBack(unit: string): void;
  /** The state of a unit without counting a request; null if the limit is off. */
  look(unit: string, limit: RateLimit): RateState | null;
}

export function createRateWindows(): RateWindows {
  const windows = new BoundedMap<string, RateWindow>(MAX_WINDOWS);
  return {
    get(unit, now) {
      const known = windows.get(unit);
      return known !== undefined && known.endsAt > now ? known : undefined;
    },
    begin(unit, window) {
      // Deleting first keeps the map in the order in which windows began.
      windows.delete(unit);
      windows.set(unit, window);
      return window;
    },
  };
}

/**
 * Counts requests by unit in fixed windows. A window starts with its first request. All is kept in memory, in at most {@link MAX_WINDOWS}
 * windows.
 */
export function createRateLimiter(
  nowMs: () => number = () => performance.now(),
  windows: RateWindows = createRateWindows(),
): RateLimiter {
  const fresh = (limit: RateLimit, now: number): RateWindow => ({
    used: 0,
    endsAt: now + limit.windowSeconds * 1000,
  });
  const stateOf = (window: RateWindow, max: number, allowed: boolean, now: number): RateState => ({
    allowed,
    limit: max,
    remaining: Math.max(0, max - window.used),
    resetSeconds: Math.max(1, Math.ceil((window.endsAt - now) / 1000)),
  });
  return {
    count(unit, limit) {
      if (limit.max === null) return null;
      const now = nowMs();
      const window = windows.get(unit, now) ?? windows.begin(unit, fresh(limit, now));
      const allowed = window.used < limit.max;
      if (allowed) window.used += 1;
      return stateOf(window, limit.max, allowed, now);
    },
    giveBack(unit) {
      const window = windows.get(unit, nowMs());
      if (window !== undefined && window.used > 0) window.used -= 1;
    },
    look(unit, limit) {
      if (limit.max === null) return null;
      const now = nowMs();
      const window = windows.get(unit, now) ?? fresh(limit, now);
      return stateOf(window, limit.max, window.used < limit.max, now);
    },
  };
}
