import { expect, test } from "vitest";
import { SingleFlight } from "../../src/foundation/single-flight.ts";

/** Work that ends when the test says so. */
function bench() {
  const begun: PromiseWithResolvers<string>[] = [];
  const work = (): Promise<string> => {
    const one = Promise.withResolvers<string>();
    begun.push(one);
    return one.promise;
  };
  return { flights: new SingleFlight<string>(), begun, work };
}

test("whoever asks while work runs shares its result, and the next one begins anew", async () => {
  const { flights, begun, work } = bench();
  const asked = [flights.run(work), flights.run(work)];
  expect([begun.length, flights.isRunning]).toEqual([1, true]);
  begun[0]?.resolve("one");
  expect(await Promise.all(asked)).toEqual(["one", "one"]);
  expect(flights.isRunning).toBe(false);
  const next = flights.run(work);
  begun[1]?.resolve("two");
  expect(await next).toBe("two");
});

test("works of different keys run at the same time", async () => {
  const { flights, begun, work } = bench();
  const asked = [flights.run(work, "a"), flights.run(work, "b"), flights.run(work, "a")];
  begun[1]?.resolve("of b");
  begun[0]?.resolve("of a");
  expect(await Promise.all(asked)).toEqual(["of a", "of b", "of a"]);
});

test("an error goes to everybody who shares the work, and does not last", async () => {
  const { flights, begun, work } = bench();
  const asked = [flights.run(work), flights.run(work)];
  begun[0]?.reject(new Error("no luck"));
  expect((await Promise.allSettled(asked)).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  const thrown = flights.run(() => {
    throw new Error("at once");
  });
  await expect(thrown).rejects.toThrow("at once");
  const next = flights.run(work);
  begun[1]?.resolve("well");
  expect(await next).toBe("well");
});

test("who settles waits for what runs and hears of no error", async () => {
  const { flights, begun, work } = bench();
  await flights.settle();
  const asked = flights.run(work).catch(() => "failed");
  let isSettled = false;
  const settled = flights.settle().then(() => (isSettled = true));
  await Promise.resolve();
  expect(isSettled).toBe(false);
  begun[0]?.reject(new Error("no luck"));
  await settled;
  expect([await asked, flights.isRunning]).toEqual(["failed", false]);
});
