import { expect, test } from "vitest";
import { repeat, type Repetition } from "../../../src/database/postgresql/repeat.ts";

const SHORT: Repetition = { pauses: { firstMs: 1, longestMs: 4 }, patienceMs: 10_000, mayPass: () => true };

/** Work that fails this number of times, each time with an error of its own, and then gives its number of runs. */
function failing(times: number): () => Promise<number> {
  let runs = 0;
  return async () => {
    runs += 1;
    if (runs <= times) throw new Error(`run ${runs}`);
    return runs;
  };
}

test("work is done again until it succeeds", async () => {
  expect(await repeat(failing(5), SHORT)).toBe(6);
});

test("an error that does not pass by itself ends the work at once", async () => {
  const mayPass = (error: unknown): boolean => String(error) !== "Error: run 2";
  await expect(repeat(failing(5), { ...SHORT, mayPass })).rejects.toThrow("run 2");
});

test("work is not begun again after its time, and the last error is passed on", async () => {
  await expect(repeat(failing(1), { ...SHORT, patienceMs: 0 })).rejects.toThrow("run 1");
  const began = performance.now();
  await expect(
    repeat(failing(Infinity), { ...SHORT, pauses: { firstMs: 5, longestMs: 60_000 }, patienceMs: 50 }),
  ).rejects.toThrow(/^run [3-6]$/);
  expect(performance.now() - began).toBeLessThan(5000);
});
