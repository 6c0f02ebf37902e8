import { constants, PerformanceObserver } from "node:perf_hooks";
import { expect, onTestFinished, test } from "vitest";
import { createYoungCollector } from "../../src/foundation/collect-young.ts";

const MEBIBYTE = 1_048_576;

/** The kinds of collections that end from now on. */
function watchCollections(): number[] {
  const kinds: number[] = [];
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries())
      kinds.push((entry as unknown as { detail: { kind: number } }).detail.kind);
  });
  observer.observe({ entryTypes: ["gc"] });
  onTestFinished(() => observer.disconnect());
  return kinds;
}

test("after each 2 MiB of bodies the young objects are collected", async () => {
  const note = createYoungCollector();
  note(8 * MEBIBYTE);
  const kinds = watchCollections();
  for (let piece = 0; piece < 32 * 16; piece += 1) note(MEBIBYTE / 16);
  const young = (): number => kinds.filter((kind) => kind === constants.NODE_PERFORMANCE_GC_MINOR).length;
  // The engine itself makes some more.
  await expect.poll(young).toBeGreaterThanOrEqual(16);
});

test("no other part of the program is given the engine's function", () => {
  createYoungCollector()(8 * MEBIBYTE);
  expect("gc" in globalThis).toBe(false);
});
