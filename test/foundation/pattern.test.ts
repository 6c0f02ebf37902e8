import { expect, test } from "vitest";
import { compilePattern } from "../../src/foundation/pattern.ts";

test("a pattern is compiled once while it is remembered, and forgotten after many others", () => {
  const first = compilePattern("^first$");
  expect(compilePattern("^first$")).toBe(first);
  for (let index = 0; index < 30; index += 1) compilePattern(`a{1000}b{900}${index}`);
  expect(compilePattern("^first$")).not.toBe(first);
});

test("a pattern that was stored before it would be refused is compiled all the same", () => {
  const stored = compilePattern("(?:a|b|c|d|e|f|g|h|i|j){1,1000}");
  expect(typeof stored === "string" ? stored : stored.matches("j")).toBe(true);
});
