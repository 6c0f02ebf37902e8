/**
 * The state of a recipient after its failures. It is stored with the recipient, so that a restart neither forgets an outage nor
 * sends everything at once to a recovering recipient.
 */
export interface Breaker {
  /** `closed` is the normal state, `open` sends probes only, `ramping` sends few at once after an outage. */
  readonly state: "closed" | "open" | "ramping";
  /** While closed: failures in a row. While open: probes that failed. While ramping: how many deliveries may be in flight. */
  readonly count: number;
  /** Nothing is sent before this time, in milliseconds since 1970. */
  readonly notBeforeMs: number;
}

export const HEALTHY: Breaker = { state: "closed", count: 0, notBeforeMs: 0 };

/** The state when a recipient is enabled again: one delivery first, then more. */
export const RECOVERING: Breaker = { state: "ramping", count: 1, notBeforeMs: 0 };

export interface BreakerLimits {
  /** Failures in a row after which the breaker opens. Infinity: it never opens. */
  readonly failuresUntilProbes: number;
  /** Waits between probes in seconds; the last one repeats. */
  readonly probeSeconds: readonly number[];
  readonly perRecipient: number;
}

/**
 * The breaker after an attempt that delivered. The first one after an outage starts the ramp: 1, 2, 4 deliveries at once, and so on. Only a
 * probe ends the recipient's wait: a delivery that was already in flight says nothing about a wait that the recipient asked for since.
 */
export function afterSuccess(
  breaker: Breaker,
  limits: BreakerLimits,
  { isProbe }: { readonly isProbe: boolean },
): Breaker {
  if (breaker.state === "closed") return breaker.count === 0 ? breaker : { ...breaker, count: 0 };
  const allowed = breaker.state === "open" ? 1 : breaker.count * 2;
  const notBeforeMs = isProbe ? 0 : breaker.notBeforeMs;
  if (allowed < limits.perRecipient) return { state: "ramping", count: allowed, notBeforeMs };
  return notBeforeMs === 0 ? HEALTHY : { ...HEALTHY, notBeforeMs };
}

/**
 * The breaker after an attempt that failed through the recipient. A delivery that was already in flight when the breaker opened (`isProbe`
 * is false) does not lengthen the wait between probes.
 */
export function afterFailure(
  breaker: Breaker,
  limits: BreakerLimits,
  failure: { readonly nowMs: number; readonly isProbe: boolean; readonly retryAfterMs: number | null },
): Breaker {
  const asked = failure.retryAfterMs === null ? 0 : failure.nowMs + failure.retryAfterMs;
  if (breaker.state === "closed" && breaker.count + 1 < limits.failuresUntilProbes) {
    return { state: "closed", count: breaker.count + 1, notBeforeMs: Math.max(breaker.notBeforeMs, asked) };
  }
  const neverOpens = limits.failuresUntilProbes === Number.POSITIVE_INFINITY;
  if (neverOpens || (breaker.state === "open" && !failure.isProbe)) {
    return { ...breaker, notBeforeMs: Math.max(breaker.notBeforeMs, asked) };
  }
  const probes = breaker.state === "open" ? breaker.count + 1 : 0;
  const wait = limits.probeSeconds[Math.min(probes, limits.probeSeconds.length - 1)] ?? 0;
  return { state: "open", count: probes, notBeforeMs: Math.max(failure.nowMs + wait * 1000, asked) };
}

/**
 * How many deliveries may be in flight at once; 0 while the recipient's wait lasts. A recipient that just failed gets one at a time, so
 * that several dead recipients do not hold every slot until their breakers open.
 */
export function allowedInFlight(breaker: Breaker, perRecipient: number, nowMs: number): number {
  if (nowMs < breaker.notBeforeMs) return 0;
  if (breaker.state === "closed") return breaker.count === 0 ? perRecipient : 1;
  return breaker.state === "open" ? 1 : Math.min(breaker.count, perRecipient);
}
