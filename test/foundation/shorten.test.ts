import { expect, test } from "vitest";
import { shorten } from "../../src/foundation/shorten.ts";

test("a text that fits stays whole, and a longer one ends with an ellipsis within the length", () => {
  expect(shorten("four", 4)).toBe("four");
  expect(shorten("fives", 4)).toBe("fiv…");
});

test("no character is cut in two, and half a character that was sent is replaced", () => {
  expect(shorten("ab🙂cd", 4)).toBe("ab…");
  expect(shorten("a\ud83d", 4)).toBe("a\ufffd");
});
