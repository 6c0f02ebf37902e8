import { expect, test } from "vitest";
import { ownerOf } from "../../src/outbox/sending/owner.ts";

const RECIPIENTS = Array.from({ length: 3000 }, (_, index) => `wh_${index}`);

function shares(servers: readonly string[]): Map<string | null, string[]> {
  return Map.groupBy(RECIPIENTS, (id) => ownerOf(id, servers));
}

test("a server that is alone owns everything, and nobody owns anything without servers", () => {
  expect(ownerOf("wh_1", ["srv_1"])).toBe("srv_1");
  expect(ownerOf("wh_1", [])).toBeNull();
});

test("recipients are shared out evenly, whatever the order of the servers", () => {
  const servers = ["srv_1", "srv_2", "srv_3"];
  for (const [, own] of shares(servers)) {
    expect(own.length).toBeGreaterThan(900);
    expect(own.length).toBeLessThan(1100);
  }
  for (const id of RECIPIENTS) expect(ownerOf(id, servers.toReversed())).toBe(ownerOf(id, servers));
});

test("when a server goes, only what it owned moves, to all of the others", () => {
  const before = ["srv_1", "srv_2", "srv_3"];
  const after = ["srv_1", "srv_3"];
  const moved = RECIPIENTS.filter((id) => ownerOf(id, before) !== ownerOf(id, after));
  expect(moved).toEqual(shares(before).get("srv_2"));
  expect(new Set(moved.map((id) => ownerOf(id, after)))).toEqual(new Set(after));
});
