import * as fc from "fast-check";
import { expect, test } from "vitest";
import {
  afterFailure,
  afterSuccess,
  allowedInFlight,
  HEALTHY,
  RECOVERING,
  type Breaker,
} from "../../src/outbox/sending/breaker.ts";

const LIMITS = { probeSeconds: [30, 60, 120, 300, 600, 900], failuresUntilProbes: 5, perRecipient: 4 };
const NOW = 1_790_000_000_000;

function failTimes(times: number, breaker: Breaker = HEALTHY): Breaker {
  let current = breaker;
  for (let index = 0; index < times; index += 1) {
    current = afterFailure(current, LIMITS, { nowMs: NOW, isProbe: false, retryAfterMs: null });
  }
  return current;
}

test("a failure leaves one delivery at a time, and the fifth in a row probes only", () => {
  expect(allowedInFlight(HEALTHY, LIMITS.perRecipient, NOW)).toBe(4);
  for (const failures of [1, 4])
    expect(allowedInFlight(failTimes(failures), LIMITS.perRecipient, NOW)).toBe(1);
  const open = failTimes(5);
  expect(open.state).toBe("open");
  expect(allowedInFlight(open, LIMITS.perRecipient, NOW + 29_999)).toBe(0);
  expect(allowedInFlight(open, LIMITS.perRecipient, NOW + 30_000)).toBe(1);
});

test("a success in between starts the count of failures anew", () => {
  const breaker = afterSuccess(failTimes(4), LIMITS, { isProbe: false });
  expect(breaker).toEqual(HEALTHY);
  expect(failTimes(4, breaker).state).toBe("closed");
});

test("probes come 30 s, 1, 2, 5, 10 and 15 minutes apart, and 15 minutes ever after", () => {
  let breaker = failTimes(5);
  let nowMs = NOW;
  const waits: number[] = [];
  for (let probe = 0; probe < 8; probe += 1) {
    waits.push((breaker.notBeforeMs - nowMs) / 1000);
    nowMs = breaker.notBeforeMs;
    breaker = afterFailure(breaker, LIMITS, { nowMs, isProbe: true, retryAfterMs: null });
  }
  expect(waits).toEqual([30, 60, 120, 300, 600, 900, 900, 900]);
});

test("after an outage one, then two, then four deliveries go out at once", () => {
  let breaker = failTimes(5);
  const allowed: number[] = [];
  for (let success = 0; success < 4; success += 1) {
    breaker = afterSuccess(breaker, LIMITS, { isProbe: success === 0 });
    allowed.push(allowedInFlight(breaker, LIMITS.perRecipient, NOW));
  }
  expect(allowed).toEqual([1, 2, 4, 4]);
  expect(breaker).toEqual(HEALTHY);
});

test("a failure while ramping up goes back to probes at once", () => {
  const breaker = afterFailure(RECOVERING, LIMITS, { nowMs: NOW, isProbe: false, retryAfterMs: null });
  expect(breaker).toEqual({ state: "open", count: 0, notBeforeMs: NOW + 30_000 });
});

test("a breaker that never opens leaves one delivery at a time after failures, and keeps its ramp", () => {
  const never = { ...LIMITS, failuresUntilProbes: Number.POSITIVE_INFINITY };
  const failure = { nowMs: NOW, isProbe: false, retryAfterMs: null };
  let failing = HEALTHY;
  for (let times = 0; times < 20; times += 1) failing = afterFailure(failing, never, failure);
  expect(failing.state).toBe("closed");
  expect(allowedInFlight(failing, LIMITS.perRecipient, NOW)).toBe(1);
  expect(afterFailure(RECOVERING, never, failure)).toEqual(RECOVERING);
});

test("failures of deliveries that were in flight when the breaker opened do not delay the first probe", () => {
  expect(failTimes(9)).toEqual(failTimes(5));
});

test("a receiver that asks for quiet gets it, with the breaker closed and open", () => {
  const asked = { nowMs: NOW, isProbe: true, retryAfterMs: 3_600_000 };
  for (const breaker of [HEALTHY, failTimes(5)]) {
    const quiet = afterFailure(breaker, LIMITS, asked);
    expect(allowedInFlight(quiet, LIMITS.perRecipient, NOW + 3_599_999)).toBe(0);
    expect(allowedInFlight(quiet, LIMITS.perRecipient, NOW + 3_600_000)).toBeGreaterThan(0);
  }
});

test("a delivery that was in flight when the receiver asked for quiet does not end the quiet", () => {
  const asked = { nowMs: NOW, isProbe: false, retryAfterMs: 3_600_000 };
  for (const breaker of [HEALTHY, failTimes(4), RECOVERING, failTimes(5)]) {
    let quiet = afterFailure(breaker, LIMITS, asked);
    for (let late = 0; late < 4; late += 1) quiet = afterSuccess(quiet, LIMITS, { isProbe: false });
    expect(allowedInFlight(quiet, LIMITS.perRecipient, NOW + 3_599_999)).toBe(0);
    expect(allowedInFlight(quiet, LIMITS.perRecipient, NOW + 3_600_000)).toBe(4);
  }
});

test("whatever happens, the numbers stay whole and a probe is never further off than its longest wait", () => {
  const step = fc.record({ ok: fc.boolean(), isProbe: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      let breaker = HEALTHY;
      for (const { ok, isProbe } of steps) {
        breaker = ok
          ? afterSuccess(breaker, LIMITS, { isProbe })
          : afterFailure(breaker, LIMITS, { nowMs: NOW, isProbe, retryAfterMs: null });
        expect(Number.isInteger(breaker.count) && breaker.count >= 0).toBe(true);
        expect(breaker.notBeforeMs).toBeLessThanOrEqual(NOW + 900_000);
        expect(allowedInFlight(breaker, LIMITS.perRecipient, NOW + 900_000)).toBeGreaterThan(0);
      }
    }),
  );
});
