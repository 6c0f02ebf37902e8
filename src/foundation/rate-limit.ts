/** A limit of requests in a fixed window; null switches it off. */
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

/** Windows kept in memory. Beyond this the oldest is dropped, which starts its window anew. */
const MAX_WINDOWS = 100_000;

interface Window {
  used: number;
  /** On the monotonic clock: setting the machine's clock neither frees nor locks anybody. */
  endsAt: number;
}

export interface RateLimiter {
  /** Counts a request; null if the limit is off. */
  count(unit: string, limit: RateLimit): RateState | null;
  /** Takes one counted request back, because it was not one of those that are limited. */
  giveBack(unit: string): void;
  /** The state of a unit, without counting; null if the limit is off. */
  look(unit: string, limit: RateLimit): RateState | null;
}

/** Counts requests by unit in fixed windows, each starting with its first request. In memory, bounded. */
export function createRateLimiter(nowMs: () => number = () => performance.now()): RateLimiter {
  const windows = new Map<string, Window>();
  const open = (unit: string, limit: RateLimit, now: number): Window => {
    const known = windows.get(unit);
    if (known !== undefined && known.endsAt > now) return known;
    // Deleting first keeps the map in the order in which windows began.
    windows.delete(unit);
    if (windows.size >= MAX_WINDOWS) windows.delete(windows.keys().next().value ?? "");
    const window = { used: 0, endsAt: now + limit.windowSeconds * 1000 };
    windows.set(unit, window);
    return window;
  };
  const stateOf = (window: Window, max: number, allowed: boolean, now: number): RateState => ({
    allowed,
    limit: max,
    remaining: Math.max(0, max - window.used),
    resetSeconds: Math.max(1, Math.ceil((window.endsAt - now) / 1000)),
  });
  return {
    count(unit, limit) {
      if (limit.max === null) return null;
      const now = nowMs();
      const window = open(unit, limit, now);
      const allowed = window.used < limit.max;
      if (allowed) window.used += 1;
      return stateOf(window, limit.max, allowed, now);
    },
    giveBack(unit) {
      const window = windows.get(unit);
      if (window !== undefined && window.used > 0) window.used -= 1;
    },
    look(unit, limit) {
      if (limit.max === null) return null;
      const now = nowMs();
      const window = windows.get(unit);
      const fresh = window === undefined || window.endsAt <= now;
      const seen = fresh ? { used: 0, endsAt: now + limit.windowSeconds * 1000 } : window;
      return stateOf(seen, limit.max, seen.used < limit.max, now);
    },
  };
}
