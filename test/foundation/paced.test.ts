import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { paced } from "../../src/foundation/paced.ts";
import { until } from "../support/until.ts";

test("work begins at once, and then no sooner than ten times what it took, however often it is asked for", async () => {
  let [now, begun, tookMs] = [1000, 0, 0];
  const ask = paced(
    () => void (begun += 1),
    () => tookMs,
    () => now,
  );
  ask();
  ask();
  expect(begun).toBe(2);
  tookMs = 5;
  for (let asked = 0; asked < 9; asked += 1) ask();
  expect(begun).toBe(2);
  await until(() => begun === 3);
  // What was asked for meanwhile was done together.
  await sleep(60);
  expect(begun).toBe(3);
  ask();
  expect(begun).toBe(3);
  now += 50;
  await until(() => begun === 4);
});

test("the rest after long work is two seconds", () => {
  let [now, begun] = [1000, 0];
  const ask = paced(
    () => void (begun += 1),
    () => 60_000,
    () => now,
  );
  ask();
  now += 2000;
  ask();
  expect(begun).toBe(2);
});
