import * as fc from "fast-check";
import { expect, test } from "vitest";
import { defaultConfig } from "../../src/config/config.ts";
import { HEALTHY } from "../../src/outbox/sending/breaker.ts";
import { classifyResult } from "../../src/webhooks/attempt.ts";
import { policyOf } from "../../src/webhooks/webhook-transport.ts";
import { settleAttempt, type AttemptSituation } from "../../src/outbox/sending/settle-attempt.ts";
import type { Blame, DeliveryPolicy } from "../../src/outbox/sending/transport.ts";

const NOW = 1_790_000_000_000;
const POLICY = policyOf(defaultConfig.webhooks);
const FRESH: AttemptSituation = {
  spent: 0,
  interruptions: 0,
  isProbe: false,
  recipientState: "enabled",
  breaker: HEALTHY,
  goneAt: null,
  failingSince: null,
  refusals: 0,
};
const OPEN = { state: "open", count: 3, notBeforeMs: NOW } as const;

function answer(status: number) {
  const facts = { retryAfter: null, location: null, bodyStart: "", durationMs: 1 };
  return classifyResult({ kind: "answer", status, ...facts }, NOW);
}

function settle(before: Partial<AttemptSituation>, status: number) {
  return settleAttempt({ ...FRESH, ...before }, answer(status), POLICY, {
    now: NOW,
    random: 0,
  });
}

test("a failed probe waits for the next probe, however far its own schedule had come", () => {
  const after = settle({ isProbe: true, spent: 11, breaker: OPEN }, 503);
  expect(after).toMatchObject({ state: "pending", spent: 11, dueAt: after.breaker.notBeforeMs });
  expect(after.dueAt).toBe(NOW + 600_000);
});

test("only the success of a probe ends the wait of a receiver", () => {
  const waiting = { ...OPEN, notBeforeMs: NOW + 60_000 };
  for (const isProbe of [false, true])
    expect(settle({ isProbe, breaker: waiting }, 204).breaker.notBeforeMs).toBe(isProbe ? 0 : NOW + 60_000);
});

test("every answer but a 2xx counts towards the breaker", () => {
  for (const status of [302, 400, 401, 404, 408, 410, 422, 429, 500])
    expect(settle({}, status).breaker.count, String(status)).toBe(1);
  for (const status of [200, 204, 299]) expect(settle({}, status).breaker).toEqual(HEALTHY);
});

test("a disabled webhook's retry is held, and a stop by 410 does not undo what the owner chose", () => {
  expect(settle({ recipientState: "disabled" }, 500).state).toBe("held");
  const gone = settle({ recipientState: "disabled", goneAt: NOW - 120_000 }, 410);
  expect(gone).toMatchObject({ state: "held", recipientState: "disabled" });
});

test("the second 410 stops the webhook from a minute apart on", () => {
  expect(settle({}, 410)).toMatchObject({ state: "pending", goneAt: NOW, recipientState: "enabled" });
  expect(settle({ goneAt: NOW - 59_999 }, 410)).toMatchObject({
    recipientState: "enabled",
    goneAt: NOW - 59_999,
  });
  expect(settle({ goneAt: NOW - 60_000 }, 410)).toMatchObject({ state: "held", recipientState: "stopped" });
});

/** As a transport has it whose recipients do not recognise a repeated message. */
const MAIL_LIKE: DeliveryPolicy = {
  scheduleSeconds: [60, 300],
  probeSeconds: [60, 300],
  failuresUntilProbes: Number.POSITIVE_INFINITY,
  refusalsUntilStopped: 3,
  afterUnsure: { delaySeconds: 1800, most: 1 },
  limits: { total: 2, perDestination: 2, perRecipient: 2 },
  pace: null,
};

function settleBlamed(
  blame: Blame,
  before: Partial<AttemptSituation> = {},
  policy: DeliveryPolicy = MAIL_LIKE,
) {
  const result = { outcome: "any", blame, retryAfterMs: null };
  return settleAttempt({ ...FRESH, ...before }, result, policy, { now: NOW, random: 0 });
}

test("a message that is refused for good fails at once, and the third in a row stops the recipient", () => {
  expect(settleBlamed("message")).toMatchObject({ state: "failed", refusals: 1, recipientState: "enabled" });
  expect(settleBlamed("message", { refusals: 1 })).toMatchObject({ refusals: 2, recipientState: "enabled" });
  expect(settleBlamed("message", { refusals: 2 })).toMatchObject({
    state: "failed",
    refusals: 3,
    recipientState: "stopped",
    failingSince: NOW,
  });
});

test("a delivery in between starts the count of refusals anew, a put-off message does not", () => {
  expect(settleBlamed("nobody", { refusals: 2 })).toMatchObject({ state: "delivered", refusals: 0 });
  for (const blame of ["recipient", "destination", "unsure", "own"] as const)
    expect(settleBlamed(blame, { refusals: 2 }), blame).toMatchObject({ state: "pending", refusals: 2 });
});

test("a recipient that its owner disabled meanwhile stays disabled, however often it refuses", () => {
  const refused = settleBlamed("message", { refusals: 7, recipientState: "disabled" });
  expect(refused).toMatchObject({ state: "failed", recipientState: "disabled" });
});

test("a fault of the place spends nothing and says nothing of the recipient", () => {
  const { isProbe: _, ...before } = { ...FRESH, spent: 2, interruptions: 1, refusals: 1 };
  expect(settleBlamed("destination", before)).toEqual({ ...before, state: "pending", dueAt: null });
  expect(settleBlamed("destination", { recipientState: "disabled" })).toMatchObject({ state: "held" });
});

test("a recipient whose access is refused gets probes from the first time on, and no message spends an attempt", () => {
  let state = { ...FRESH, spent: 3 };
  for (let attempt = 0; attempt < 30; attempt += 1) {
    const before: AttemptSituation = { ...state, isProbe: attempt > 0 };
    const after = settleAttempt(before, { outcome: "any", blame: "access", retryAfterMs: null }, POLICY, {
      now: NOW,
      random: 0,
    });
    expect(after).toMatchObject({
      state: "pending",
      spent: 3,
      dueAt: null,
      failingSince: NOW,
      breaker: { state: "open", count: attempt },
    });
    expect(after.breaker.notBeforeMs).toBeGreaterThanOrEqual(NOW + 30_000);
    state = { ...FRESH, ...after };
  }
});

test("an attempt without a known end is made once more after half an hour, and after a second one the message has failed", () => {
  const first = settleBlamed("unsure", { spent: 1 });
  expect(first).toMatchObject({ state: "pending", spent: 1, interruptions: 1, dueAt: NOW + 1_800_000 });
  expect(settleBlamed("unsure", { interruptions: 1 })).toMatchObject({ state: "failed", interruptions: 2 });
  const never = { ...MAIL_LIKE, afterUnsure: { delaySeconds: 0, most: 0 } };
  expect(settleBlamed("unsure", {}, never)).toMatchObject({ state: "failed" });
});

test("attempts without a known end are counted over those that were put off in between", () => {
  const putOff = settleBlamed("recipient", { interruptions: 1 });
  expect(putOff).toMatchObject({ state: "pending", interruptions: 1, spent: 1 });
  expect(settleBlamed("unsure", { interruptions: putOff.interruptions })).toMatchObject({ state: "failed" });
});

test("an attempt that we ended before anything arrived spends nothing and counts as nothing", () => {
  expect(settleBlamed("own", { spent: 1 })).toMatchObject({
    state: "pending",
    spent: 1,
    interruptions: 0,
    dueAt: NOW + 60_000,
  });
});

test("where repeating is harmless, an attempt without a known end waits as one that was interrupted", () => {
  expect(settleBlamed("unsure", {}, POLICY)).toEqual(settleBlamed("own", {}, POLICY));
  expect(settleBlamed("unsure", {}, POLICY)).toMatchObject({ interruptions: 1, dueAt: NOW + 5000 });
});

test("a message that is put off for now follows its own schedule, whatever happened to others", () => {
  const before = { breaker: { state: "closed", count: 20, notBeforeMs: 0 } } as const;
  expect(settleBlamed("recipient", before)).toMatchObject({
    dueAt: NOW + 60_000,
    breaker: { state: "closed" },
  });
  expect(settleBlamed("recipient", { ...before, spent: 2 })).toMatchObject({ state: "failed" });
});

test("whatever an attempt meets, its plan is whole numbers, and only a spent schedule fails for good", () => {
  const statuses = fc.constantFrom(200, 204, 301, 400, 404, 408, 410, 429, 500, 503);
  fc.assert(
    fc.property(
      statuses,
      fc.nat(12),
      fc.boolean(),
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      (...drawn) => {
        const [status, spent, isProbe, random] = drawn;
        const before = { ...FRESH, spent, isProbe, breaker: isProbe ? OPEN : HEALTHY };
        const after = settleAttempt(before, answer(status), POLICY, { now: NOW, random });
        expect(Number.isInteger(after.dueAt) && Number.isInteger(after.spent)).toBe(true);
        expect(after.dueAt).toBeGreaterThanOrEqual(NOW);
        expect(after.state === "failed").toBe(status >= 300 && !isProbe && spent === 12);
        expect(after.state === "delivered").toBe(status < 300);
      },
    ),
  );
});
