import { expect, test } from "vitest";
import { firstIdAt, isId, newId } from "../../src/foundation/id.ts";

test("ids made in a row sort in the order they were made, within one millisecond too", () => {
  const ids = Array.from({ length: 5000 }, () => newId("sub", 1_790_000_000_000));
  expect([...ids].sort()).toEqual(ids);
  expect(new Set(ids).size).toBe(ids.length);
});

test("the time part is the TypeID specification's encoding of a UUIDv7", () => {
  // 0x01890a5dac96 ms is the time of the specification's example 01h455vb4pex5vsknk084sn02q.
  expect(firstIdAt("sub", 0x01890a5dac96)).toMatch(/^sub_01h455vb4p/);
  expect(newId("ep", 0x01890a5dac96)).toMatch(/^ep_01h455vb4p/);
});

test("an id made at a time is never below the bound for that time and always below the next one", () => {
  const at = 1_790_000_000_123;
  const id = newId("held", at);
  expect(id >= firstIdAt("held", at)).toBe(true);
  expect(id < firstIdAt("held", at + 1)).toBe(true);
});

test("a clock set back still gives well-formed, different ids", () => {
  const now = 1_790_000_000_000;
  const ids = [newId("ws", now), newId("ws", now - 3_600_000), newId("ws", now)];
  expect(new Set(ids).size).toBe(3);
  for (const id of ids) expect(isId("ws", id)).toBe(true);
});

test("ids of another kind, another length or with foreign letters are refused", () => {
  const id = newId("sub", 0);
  expect(isId("sub", id)).toBe(true);
  for (const bad of [
    id.toUpperCase(),
    id.slice(1),
    `${id}0`,
    id.replace("sub_", "ep_"),
    "sub_8zzzzzzzzzzzzzzzzzzzzzzzzz",
    "",
  ]) {
    expect(isId("sub", bad)).toBe(false);
  }
});
