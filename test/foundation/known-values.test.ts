import { expect, test } from "vitest";
import { KnownValues } from "../../src/foundation/known-values.ts";

/** Values whose reads end when the test says so. */
function bench() {
  const reads: ((value: string | undefined) => void)[] = [];
  const failures: ((error: Error) => void)[] = [];
  const read = () =>
    new Promise<string | undefined>((resolve, reject) => {
      reads.push(resolve);
      failures.push(reject);
    });
  return { values: new KnownValues<string>(read, 2), reads, failures };
}

test("those who ask at the same time share one read, and what it gave is remembered", async () => {
  const { values, reads } = bench();
  const asked = [values.find("a"), values.find("a")];
  expect(values.recall("a")).toBeUndefined();
  reads[0]?.("one");
  expect(await Promise.all(asked)).toEqual(["one", "one"]);
  expect([values.recall("a"), await values.find("a"), reads.length]).toEqual(["one", "one", 1]);
});

test("what was read before all was forgotten is given to who asked for it, and not kept", async () => {
  const { values, reads } = bench();
  const before = values.find("a");
  values.forget();
  const after = values.find("a");
  reads[1]?.("new");
  reads[0]?.("old");
  expect([await before, await after, values.recall("a")]).toEqual(["old", "new", "new"]);
});

test("what is not there and what could not be read is read again", async () => {
  const { values, reads, failures } = bench();
  const missing = values.find("a");
  reads[0]?.(undefined);
  expect(await missing).toBeUndefined();
  const failed = values.find("a");
  failures[1]?.(new Error("away"));
  await expect(failed).rejects.toThrow("away");
  const found = values.find("a");
  reads[2]?.("here");
  expect(await found).toBe("here");
});

test("the oldest goes when there is no room", async () => {
  const { values, reads } = bench();
  for (const [index, key] of ["a", "b", "c"].entries()) {
    const found = values.find(key);
    reads[index]?.(key);
    await found;
  }
  expect(["a", "b", "c"].map((key) => values.recall(key))).toEqual([undefined, "b", "c"]);
});
