import { expect, test } from "vitest";
import { createTextMatcher } from "../../src/submissions/match-text.ts";
import { temporaryDatabase } from "../support/temporary-database.ts";

/** As a search does it: the pattern first, by SQLite. */
function finds(wanted: string, data: unknown): boolean {
  const matcher = createTextMatcher(wanted);
  const json = JSON.stringify(data);
  const isLike =
    temporaryDatabase().prepare("SELECT ? LIKE ? ESCAPE '\\'").pluck().get(json, matcher.pattern) === 1;
  expect(isLike || !matcher.matches(json)).toBe(true);
  return isLike && matcher.matches(json);
}

test.each<[string, unknown]>([
  ["quiet", { a: "A QUIET table" }],
  ["ŘEHOŘ", { a: "Tomáš Řehoř" }],
  ["привет", { a: "ПРИВЕТ, мир" }],
  ["您好", { a: "林:您好" }],
  ["100%", { a: "100% sure" }],
  ["a_b", { a: "a_b" }],
  ['say "hi"', { a: 'They say "Hi"' }],
  ["c:\\temp", { a: "C:\\Temp" }],
  ["two\nlines", { a: "Two\nlines" }],
  ["42", { a: 42 }],
  ["true", { a: true }],
  ["deep", { a: [{ b: { c: "down DEEP" } }] }],
  ["😀", { a: "fun 😀" }],
])("%j is found in %j", (wanted, data) => {
  expect(finds(wanted, data)).toBe(true);
});

test.each<[string, unknown]>([
  ["message", { message: "hello" }],
  ["axb", { a: "a_b" }],
  ["a_b", { a: "axb" }],
  ["100%", { a: "100 percent" }],
  ["řehoř", { a: "Xehox" }],
  ["null", { a: null }],
  ['","', { a: "x", b: "y" }],
  ["toString", { toString: "x", __proto__: { a: "b" } }],
])("%j is not found in %j", (wanted, data) => {
  expect(finds(wanted, data)).toBe(false);
});
