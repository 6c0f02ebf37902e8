import * as fc from "fast-check";
import { expect, test } from "vitest";
import {
  FRESH_PACE,
  MinuteRate,
  nextStep,
  noteBegun,
  type PaceState,
} from "../../src/outbox/sending/pace.ts";
import type { Pace } from "../../src/outbox/sending/transport.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../src/foundation/time-units.ts";

const NOW = 1_790_000_000_000;
const PACE: Pace = {
  perMinute: 60,
  perRecipientPerHour: 30,
  perRecipientInWindow: { most: 10, seconds: 600 },
};

test("ten messages go each by itself, and from the eleventh on they wait for the end of the ten minutes", () => {
  let state = FRESH_PACE;
  expect(nextStep(state, PACE, null, NOW)).toEqual({ kind: "each", most: 10 });
  state = noteBegun(state, PACE, 4, NOW);
  state = noteBegun(state, PACE, 6, NOW + 3 * MINUTE_MS);
  expect(nextStep(state, PACE, null, NOW + 9 * MINUTE_MS)).toEqual({
    kind: "wait",
    until: NOW + 10 * MINUTE_MS,
  });
  expect(nextStep(state, PACE, null, NOW + 10 * MINUTE_MS)).toEqual({ kind: "each", most: 10 });
});

test("what was gathered goes as one at the window's end, and counts as one", () => {
  let state: PaceState = { ...noteBegun(FRESH_PACE, PACE, 10, NOW), gathersUntil: NOW + 10 * MINUTE_MS };
  expect(nextStep(state, PACE, null, NOW + MINUTE_MS)).toEqual({ kind: "wait", until: NOW + 10 * MINUTE_MS });
  const end = NOW + 10 * MINUTE_MS;
  expect(nextStep(state, PACE, null, end)).toEqual({ kind: "together" });
  state = { ...noteBegun(state, PACE, 1, end), gathersUntil: null };
  expect(state).toMatchObject({ windowAt: end, windowSent: 1, hourSent: 11 });
});

test("thirty an hour: after that messages are gathered until the hour is over", () => {
  const begun = (count: number): PaceState => ({ ...FRESH_PACE, hourAt: NOW, hourSent: count });
  expect(nextStep(begun(29), PACE, null, NOW)).toEqual({ kind: "each", most: 1 });
  expect(nextStep(begun(30), PACE, null, NOW)).toEqual({ kind: "wait", until: NOW + HOUR_MS });
  const gathering = { ...begun(30), gathersUntil: NOW + 10 * MINUTE_MS };
  expect(nextStep(gathering, PACE, null, NOW + 10 * MINUTE_MS)).toEqual({
    kind: "wait",
    until: NOW + HOUR_MS,
  });
  expect(nextStep(gathering, PACE, null, NOW + HOUR_MS)).toEqual({ kind: "together" });
});

test("a recipient that wants its messages gathered gets the first one after that time, however few they are", () => {
  expect(nextStep(FRESH_PACE, PACE, 86_400, NOW)).toEqual({ kind: "wait", until: NOW + DAY_MS });
  const gathering = { ...FRESH_PACE, gathersUntil: NOW + DAY_MS };
  expect(nextStep(gathering, PACE, 86_400, NOW + HOUR_MS)).toMatchObject({ until: NOW + DAY_MS });
  expect(nextStep(gathering, PACE, 86_400, NOW + DAY_MS)).toEqual({ kind: "together" });
});

test("a clock that was ahead neither stops messages nor fills a window", () => {
  const ahead = { ...noteBegun(FRESH_PACE, PACE, 30, NOW + 400 * 24 * HOUR_MS), gathersUntil: null };
  expect(nextStep(ahead, PACE, null, NOW)).toEqual({ kind: "each", most: 10 });
  const gathering = { ...FRESH_PACE, gathersUntil: NOW + 400 * 24 * HOUR_MS };
  expect(nextStep(gathering, PACE, null, NOW)).toEqual({ kind: "together" });
});

/** Asks after each wait, and begins what may be begun; the times at which something was. */
function beginWhenever(waits: readonly number[]): number[] {
  let state = FRESH_PACE;
  let now = NOW;
  const begun: number[] = [];
  const take = (): PaceState => {
    const step = nextStep(state, PACE, null, now);
    if (step.kind !== "wait") {
      begun.push(now);
      return { ...noteBegun(state, PACE, 1, now), gathersUntil: null };
    }
    expect(step.until).toBeGreaterThan(now);
    expect(step.until - now).toBeLessThanOrEqual(HOUR_MS);
    return { ...state, gathersUntil: step.until };
  };
  for (const wait of waits) {
    now += wait;
    state = take();
  }
  return begun;
}

test("whatever comes when, no window has more than its ten, no hour more than its thirty, and no wait is longer than an hour", () => {
  const gaps = fc.array(fc.integer({ min: 0, max: 20 * MINUTE_MS }), { minLength: 1, maxLength: 200 });
  fc.assert(
    fc.property(gaps, (waits) => {
      const begun = beginWhenever(waits);
      for (const at of begun) {
        // Windows do not slide, so two of them may touch in any stretch of time.
        const within = (ms: number) => begun.filter((other) => other >= at && other < at + ms).length;
        expect(within(10 * MINUTE_MS)).toBeLessThanOrEqual(20);
        expect(within(HOUR_MS)).toBeLessThanOrEqual(60);
      }
    }),
  );
});

test("a minute has its messages and no more, and a clock that is set back begins another", () => {
  const rate = new MinuteRate(3);
  const at = (now: number) => [rate.left("ws_a", now), rate.readyAt("ws_a")];
  expect(at(NOW)).toEqual([3, 0]);
  rate.note("ws_a", 2, NOW);
  rate.note("ws_a", 1, NOW + 59_999);
  expect(at(NOW + 59_999)).toEqual([0, NOW + MINUTE_MS]);
  expect(at(NOW + MINUTE_MS)).toEqual([3, 0]);
  rate.note("ws_a", 3, NOW + MINUTE_MS);
  expect(at(NOW - HOUR_MS)).toEqual([3, 0]);
});

test("of a minute's messages each of several workspaces has half, and the last one is for a workspace that had none", () => {
  const rate = new MinuteRate(60);
  rate.shareAmong(1, 3);
  const left = (workspaceId: string): number => rate.left(workspaceId, NOW);
  expect(left("ws_a")).toBe(30);
  rate.note("ws_a", 30, NOW);
  expect([left("ws_a"), rate.readyAt("ws_a"), left("ws_b")]).toEqual([0, NOW + MINUTE_MS, 29]);
  rate.note("ws_b", 29, NOW);
  expect([left("ws_b"), left("ws_c"), rate.readyAt("ws_c")]).toEqual([0, 1, 0]);
  expect([rate.left("ws_a", NOW + MINUTE_MS), rate.left("ws_c", NOW + MINUTE_MS)]).toEqual([30, 30]);
});

test.each([
  [1, 1, 0],
  [2, 1, 1],
  [3, 1, 1],
  [4, 2, 1],
])(
  "of %d messages a minute, one of several workspaces begins %d, and the next %d",
  (perMinute, half, rest) => {
    const rate = new MinuteRate(perMinute);
    rate.shareAmong(1, 2);
    expect(rate.left("ws_a", NOW)).toBe(half);
    rate.note("ws_a", half, NOW);
    expect(rate.left("ws_b", NOW)).toBe(rest);
  },
);
