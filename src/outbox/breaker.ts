/** So many failures in a row and the webhook gets probes only. */
const FAILURES_UNTIL_PROBES = 5;

/**
 * How a webhook's receiver is doing. It is kept beside the webhook, so that a restart neither forgets an outage nor
 * meets a recovering receiver with everything at once.
 */
export interface Health {
  /** `closed` is the normal state, `open` sends probes only, `ramping` sends few at once after an outage. */
  readonly breaker: "closed" | "open" | "ramping";
  /** Failures in a row while closed; probes that failed while open; how many may be in flight while ramping. */
  readonly count: number;
  /** Nothing is sent before this time, in milliseconds since 1970. */
  readonly notBeforeMs: number;
}

export const HEALTHY: Health = { breaker: "closed", count: 0, notBeforeMs: 0 };

/** What a webhook starts with after it was paused or stopped: one delivery first, then more. */
export const RECOVERING: Health = { breaker: "ramping", count: 1, notBeforeMs: 0 };

export interface BreakerLimits {
  /** Waits between probes in seconds; the last one repeats. */
  readonly probeSeconds: readonly number[];
  readonly perWebhook: number;
}

/** A receiver that answered with a 2xx: the first such answer after an outage starts the ramp 1, 2, 4 and so on. */
export function afterSuccess(health: Health, limits: BreakerLimits): Health {
  if (health.breaker === "closed") return health.count === 0 ? health : { ...health, count: 0 };
  const allowed = health.breaker === "open" ? 1 : health.count * 2;
  return allowed < limits.perWebhook ? { breaker: "ramping", count: allowed, notBeforeMs: 0 } : HEALTHY;
}

/**
 * A receiver that did not answer, or answered anything else. Deliveries that were already in flight when the breaker
 * opened (`isProbe` false) do not stretch the wait between probes.
 */
export function afterFailure(
  health: Health,
  limits: BreakerLimits,
  failure: { readonly nowMs: number; readonly isProbe: boolean; readonly retryAfterMs: number | null },
): Health {
  const asked = failure.retryAfterMs === null ? 0 : failure.nowMs + failure.retryAfterMs;
  if (health.breaker === "closed" && health.count + 1 < FAILURES_UNTIL_PROBES) {
    return { breaker: "closed", count: health.count + 1, notBeforeMs: Math.max(health.notBeforeMs, asked) };
  }
  if (health.breaker === "open" && !failure.isProbe) {
    return { ...health, notBeforeMs: Math.max(health.notBeforeMs, asked) };
  }
  const probes = health.breaker === "open" ? health.count + 1 : 0;
  const wait = limits.probeSeconds[Math.min(probes, limits.probeSeconds.length - 1)] ?? 0;
  return { breaker: "open", count: probes, notBeforeMs: Math.max(failure.nowMs + wait * 1000, asked) };
}

/**
 * How many deliveries may be in flight at once; 0 while the receiver asked for quiet. One that just failed is tried
 * with a single delivery, so that several dead receivers do not hold every slot until their breakers open.
 */
export function allowedInFlight(health: Health, limits: BreakerLimits, nowMs: number): number {
  if (nowMs < health.notBeforeMs) return 0;
  if (health.breaker === "closed") return health.count === 0 ? limits.perWebhook : 1;
  return health.breaker === "open" ? 1 : Math.min(health.count, limits.perWebhook);
}
