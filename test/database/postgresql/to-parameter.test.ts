import { expect, test } from "vitest";
import { toParameter } from "../../../src/database/postgresql/to-parameter.ts";

test("a NUL in a text becomes the sign for an unreadable character; nothing else changes", () => {
  const bytes = Buffer.from("\0");
  expect(["a\0b\0", "plain", 7, null, bytes].map(toParameter)).toEqual([
    "a\uFFFDb\uFFFD",
    "plain",
    7,
    null,
    bytes,
  ]);
});
