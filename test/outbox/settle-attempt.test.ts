import * as fc from "fast-check";
import { expect, test } from "vitest";
import { defaultConfig } from "../../src/config/config.ts";
import { HEALTHY } from "../../src/outbox/breaker.ts";
import { judge } from "../../src/webhooks/attempt.ts";
import { policyOf } from "../../src/webhooks/webhook-transport.ts";
import { settleAttempt, type AttemptSituation } from "../../src/outbox/settle-attempt.ts";

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
};
const OPEN = { state: "open", count: 3, notBeforeMs: NOW } as const;

function answer(status: number) {
  const facts = { retryAfter: null, location: null, bodyStart: "", durationMs: 1 };
  return judge({ kind: "answer", status, ...facts }, NOW);
}

function settle(before: Partial<AttemptSituation>, status: number) {
  return settleAttempt({ ...FRESH, ...before }, answer(status), POLICY, { now: NOW, random: 0 });
}

test("a failed probe waits for the next probe, however far its own schedule had come", () => {
  const after = settle({ isProbe: true, spent: 11, breaker: OPEN }, 503);
  expect(after).toMatchObject({ state: "pending", spent: 11, dueAt: after.breaker.notBeforeMs });
  expect(after.dueAt).toBe(NOW + 600_000);
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
