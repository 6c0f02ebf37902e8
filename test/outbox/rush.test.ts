import { expect, test } from "vitest";
import { isRush, watchRush } from "../../src/outbox/sending/rush.ts";

test("there is a rush only while many posts come and the process has no time left", () => {
  expect(isRush({ queued: 500, elapsedMs: 100, utilization: 1 })).toBe(true);
  expect(isRush({ queued: 500, elapsedMs: 100, utilization: 0.5 })).toBe(false);
  expect(isRush({ queued: 5, elapsedMs: 100, utilization: 1 })).toBe(false);
});

test("a process that does nothing but post is in a rush, and no longer when it rests", async () => {
  let queued = 0;
  const isRushing = watchRush(() => queued);
  const until = performance.now() + 150;
  while (performance.now() < until) queued += 1;
  expect(isRushing()).toBe(true);
  await new Promise((resolve) => setTimeout(resolve, 400));
  expect(isRushing()).toBe(false);
});
