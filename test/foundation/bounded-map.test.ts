import * as fc from "fast-check";
import { expect, test } from "vitest";
import { BoundedMap } from "../../src/foundation/bounded-map.ts";

test("a new key beyond the bound drops the oldest entry, and no other", () => {
  const map = new BoundedMap<string, number>(2);
  map.set("a", 1).set("b", 2).set("c", 3);
  expect([...map]).toEqual([
    ["b", 2],
    ["c", 3],
  ]);
});

test("a key that is set again keeps its age, and one that was deleted before is the youngest", () => {
  const map = new BoundedMap<string, number>(2);
  map.set("a", 1).set("b", 2).set("a", 3).set("c", 4);
  expect([...map.keys()]).toEqual(["b", "c"]);
  map.delete("b");
  map.set("b", 5).set("d", 6);
  expect([...map.keys()]).toEqual(["b", "d"]);
});

test("whatever is set, deleted and cleared, the map holds the youngest entries up to its bound", () => {
  const key = fc.nat(12);
  const act = fc.oneof(
    { weight: 12, arbitrary: fc.record({ what: fc.constant("set" as const), key }) },
    { weight: 4, arbitrary: fc.record({ what: fc.constant("delete" as const), key }) },
    { weight: 1, arbitrary: fc.record({ what: fc.constant("clear" as const), key }) },
  );
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 6 }), fc.array(act, { maxLength: 200 }), (max, acts) => {
      const map = new BoundedMap<number, number>(max);
      let expected: (readonly [number, number])[] = [];
      for (const [time, { what, key }] of acts.entries()) {
        if (what === "clear") map.clear();
        else if (what === "delete") map.delete(key);
        else map.set(key, time);
        if (what === "clear") expected = [];
        else if (what === "delete") expected = expected.filter(([known]) => known !== key);
        else if (expected.some(([known]) => known === key))
          expected = expected.map((entry) => (entry[0] === key ? [key, time] : entry));
        else expected = [...expected, [key, time] as const].slice(-max);
        expect([...map]).toEqual(expected);
      }
    }),
    { seed: 1, numRuns: 500 },
  );
});
