import { expect, test } from "vitest";
import { Semaphore, type SemaphoreLimits } from "../../src/foundation/semaphore.ts";

/** Works that end when the test says so, in the order in which they began. */
function bench(limits: SemaphoreLimits) {
  const semaphore = new Semaphore(limits);
  const begun: { readonly name: string; readonly end: () => void; readonly fail: () => void }[] = [];
  const enter = (name: string, line?: string): Promise<string> =>
    semaphore.run(() => {
      const { promise, resolve, reject } = Promise.withResolvers<string>();
      begun.push({ name, end: () => resolve(name), fail: () => reject(new Error(name)) });
      return promise;
    }, line);
  /** When all that can begin has begun. */
  const names = async (): Promise<string[]> => {
    await new Promise(setImmediate);
    return begun.map(({ name }) => name);
  };
  return { enter, begun, names };
}

test("no more works run at once than allowed, and others follow in their order", async () => {
  const { enter, begun, names } = bench({ maxRunning: 2 });
  const all = Promise.all(["a", "b", "c", "d"].map((name) => enter(name)));
  expect(await names()).toEqual(["a", "b"]);
  begun[1]?.end();
  expect(await names()).toEqual(["a", "b", "c"]);
  begun[0]?.end();
  begun[2]?.end();
  expect(await names()).toEqual(["a", "b", "c", "d"]);
  begun[3]?.end();
  expect(await all).toEqual(["a", "b", "c", "d"]);
});

test("work that fails gives its place back", async () => {
  const { enter, begun, names } = bench({ maxRunning: 1 });
  const failed = enter("a");
  const next = enter("b");
  begun[0]?.fail();
  await expect(failed).rejects.toThrow("a");
  expect(await names()).toEqual(["a", "b"]);
  begun[1]?.end();
  expect(await next).toBe("b");
  const last = enter("c");
  begun[2]?.end();
  expect(await last).toBe("c");
});

test("lines take turns, so that a long one hardly delays a short one", async () => {
  const { enter, begun, names } = bench({ maxRunning: 1 });
  const all = [enter("a1", "a"), enter("a2", "a"), enter("a3", "a"), enter("b1", "b")];
  for (let at = 0; at < all.length; at += 1) {
    await names();
    begun[at]?.end();
  }
  await Promise.all(all);
  expect(await names()).toEqual(["a1", "a2", "b1", "a3"]);
});

test("when all places to wait are taken, the newest of the longest line is refused, or else the newcomer", async () => {
  const { enter, begun, names } = bench({ maxRunning: 1, maxWaiting: 2, refusal: "too many" });
  const first = enter("a1", "a");
  const [second, third] = [enter("a2", "a"), enter("a3", "a")];
  const other = enter("b1", "b");
  await expect(third).rejects.toMatchObject({ code: "unavailable", message: "too many" });
  await expect(enter("a4", "a")).rejects.toMatchObject({ code: "unavailable" });
  for (let at = 0; at < 3; at += 1) {
    await names();
    begun[at]?.end();
  }
  expect(await Promise.all([first, second, other])).toEqual(["a1", "a2", "b1"]);
});
