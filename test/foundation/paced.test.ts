import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { paced } from "../../src/foundation/paced.ts";
import { until } from "../support/until.ts";

function pacedCount(tookMs: number) {
  const state = { now: 1000, begun: 0 };
  const ask = paced(
    () => void (state.begun += 1),
    () => tookMs,
    () => state.now,
  );
  const askTimes = (times: number): void => {
    for (let asked = 0; asked < times; asked += 1) ask();
  };
  return { state, askTimes };
}

test("a second of work is begun at once, and what is asked for beyond it together, when a tenth of the time has room", async () => {
  const { state, askTimes } = pacedCount(100);
  askTimes(10);
  expect(state.begun).toBe(10);
  state.now += 970;
  askTimes(50);
  expect(state.begun).toBe(10);
  await until(() => state.begun === 11);
  await sleep(60);
  expect(state.begun).toBe(11);
  // The time for ten more.
  state.now += 10_030;
  askTimes(10);
  expect(state.begun).toBe(21);
});

test("in the long run, work takes a tenth of the time, and nobody waits for it longer than two seconds", async () => {
  const { state, askTimes } = pacedCount(60_000);
  askTimes(5);
  expect(state.begun).toBe(5);
  const from = performance.now();
  askTimes(1);
  expect(state.begun).toBe(5);
  await until(() => state.begun === 6);
  expect(performance.now() - from).toBeGreaterThan(1900);
});
