import { array, assert, integer, nat, property, record } from "fast-check";
import { expect, test } from "vitest";
import {
  createJointRateLimiter,
  type JointRateLimiter,
  type ReportedSum,
  type UnreportedCount,
} from "../../src/foundation/joint-rate-limit.ts";

const limit = { max: 100, windowSeconds: 60 };

/** What the database does: sums by unit, in the window of who told first. */
function createSums() {
  const sums = new Map<string, ReportedSum>();
  return {
    add(counts: readonly UnreportedCount[]): void {
      for (const { unit, count, leftMs } of counts) {
        const known = sums.get(unit);
        sums.set(unit, { unit, used: (known?.used ?? 0) + count, leftMs: known?.leftMs ?? leftMs });
      }
    },
    all: (): ReportedSum[] => [...sums.values()],
  };
}

function exchange(servers: readonly JointRateLimiter[], sums: ReturnType<typeof createSums>): void {
  for (const server of servers) {
    for (const _ of ["what it counted", "what it heard that others count too"]) {
      sums.add(server.report(servers.length));
      server.hear(sums.all());
    }
  }
}

function take(server: JointRateLimiter, requests: number, unit = "a"): number {
  return Array.from({ length: requests }, () => server.count(unit, limit)).filter((state) => state?.allowed)
    .length;
}

test("a limit holds over all servers but for what they take between two exchanges", () => {
  const request = record({ server: nat(5), requests: integer({ min: 1, max: 60 }) });
  assert(
    property(integer({ min: 2, max: 6 }), array(array(request, { maxLength: 4 })), (count, rounds) => {
      const servers = Array.from({ length: count }, () => createJointRateLimiter(() => 0));
      const sums = createSums();
      let taken = 0;
      let largest = 0;
      for (const round of rounds) {
        const before = taken;
        for (const { server, requests } of round) taken += take(servers[server % count]!, requests);
        largest = Math.max(largest, taken - before);
        // What was told last is heard in the second, also by who had too little to report before; what that one tells then, in the third.
        for (const _ of ["told", "heard and told", "heard"]) exchange(servers, sums);
      }
      expect(taken).toBeLessThanOrEqual(limit.max + largest);
      const left = servers.map((server) => server.look("a", limit)?.remaining ?? 0);
      if (taken > limit.max) expect(left).toEqual(servers.map(() => 0));
    }),
  );
});

test("a server tells of a unit beyond a quarter of its limit, or beyond an equal part if more than four share it", () => {
  const server = createJointRateLimiter(() => 0);
  take(server, 25);
  expect(server.report(2)).toEqual([]);
  take(server, 1);
  expect(server.report(2)).toEqual([{ unit: "a", count: 26, leftMs: 60_000 }]);
  take(server, 2);
  expect(server.report(2)).toEqual([{ unit: "a", count: 2, leftMs: 60_000 }]);
  expect(server.report(2)).toEqual([]);
  take(server, 11, "b");
  expect(server.report(10)).toEqual([{ unit: "b", count: 11, leftMs: 60_000 }]);
});

test("a server that is alone tells nothing, and all it has counted when another one comes", () => {
  const server = createJointRateLimiter(() => 0);
  take(server, 90);
  expect(server.report(1)).toEqual([]);
  take(server, 1);
  expect(server.report(2)).toMatchObject([{ count: 91 }]);
});

test("what another server has told counts here at once, and makes this one report what it has", () => {
  const server = createJointRateLimiter(() => 0);
  take(server, 5);
  server.hear([{ unit: "a", used: 80, leftMs: 1000 }]);
  expect(server.look("a", limit)).toMatchObject({ remaining: 15, resetSeconds: 1 });
  expect(server.report(2)).toEqual([{ unit: "a", count: 5, leftMs: 1000 }]);
  server.hear([{ unit: "b", used: 100, leftMs: 1000 }]);
  expect(server.count("b", limit)?.allowed).toBe(false);
});

test("what nobody heard of is told again, together with what came since", () => {
  const server = createJointRateLimiter(() => 0);
  take(server, 30);
  const counts = server.report(2);
  take(server, 1);
  server.takeBack(counts);
  expect(server.report(2)).toMatchObject([{ count: 31 }]);
});

test("a window that all share ends for all at the same time, and the next one is not shared yet", () => {
  let now = 0;
  const server = createJointRateLimiter(() => now);
  take(server, 30);
  server.hear([{ unit: "a", used: 100, leftMs: 500 }]);
  now = 499;
  expect(take(server, 1)).toBe(0);
  now = 500;
  expect(take(server, 20)).toBe(20);
  expect(server.report(2)).toEqual([]);
});
