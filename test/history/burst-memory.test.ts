import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createBurstMemory } from "../../src/history/burst-memory.ts";
import { MINUTE_MS } from "../../src/foundation/time-units.ts";

test("posts of a network count for ten minutes, and so do the endpoints they went to", () => {
  const bursts = createBurstMemory();
  expect(bursts.note("a", "one", 0)).toEqual({ posts: 1, endpoints: 1 });
  expect(bursts.note("a", "two", MINUTE_MS)).toEqual({ posts: 2, endpoints: 2 });
  expect(bursts.note("b", "two", MINUTE_MS)).toEqual({ posts: 1, endpoints: 1 });
  expect(bursts.note("a", "two", 10 * MINUTE_MS)).toEqual({ posts: 2, endpoints: 1 });
});

test("it counts as a list of the last thirty posts would, whatever the clock does", () => {
  const posts = fc.array(
    fc.record({
      network: fc.constantFrom("a", "b"),
      endpointId: fc.constantFrom("x", "y", "z"),
      at: fc.nat(1_500_000),
    }),
    { maxLength: 120 },
  );
  fc.assert(
    fc.property(posts, (notes) => {
      const bursts = createBurstMemory();
      const lists = new Map<string, { endpointId: string; at: number }[]>();
      for (const { network, endpointId, at } of notes) {
        const recent = (lists.get(network) ?? []).filter(
          (post) => at - post.at < 10 * MINUTE_MS && post.at <= at,
        );
        const list = [...recent, { endpointId, at }].slice(-30);
        lists.set(network, list);
        const endpoints = new Set(list.map((post) => post.endpointId)).size;
        expect(bursts.note(network, endpointId, at)).toEqual({ posts: list.length, endpoints });
      }
    }),
  );
});

test("networks are bounded: the one that was quiet longest is forgotten, one that posts is not", () => {
  const bursts = createBurstMemory();
  bursts.note("quiet", "one", 0);
  bursts.note("busy", "one", 0);
  bursts.note("busy", "one", 2 * MINUTE_MS);
  for (let index = 0; index < 19_999; index += 1) bursts.note(`n${index}`, "one", 3 * MINUTE_MS);
  expect(bursts.note("busy", "one", 3 * MINUTE_MS).posts).toBe(3);
  expect(bursts.note("quiet", "one", 3 * MINUTE_MS).posts).toBe(1);
});
