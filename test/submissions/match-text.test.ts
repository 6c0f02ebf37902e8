import { expect, test } from "vitest";
import { createTextMatcher } from "../../src/submissions/match-text.ts";
import { temporaryDatabase } from "../support/temporary-database.ts";

/** As a search does it: the pattern first, by SQLite. */
function finds(wanted: string, data: unknown): boolean {
  const matcher = createTextMatcher(wanted);
  const json = JSON.stringify(data);
  const condition = temporaryDatabase().prepare(`SELECT ${matcher.sql} FROM (SELECT ? AS data)`).pluck();
  const isLetThrough = condition.get(...matcher.patterns, json) === 1;
  expect(isLetThrough || !matcher.matches(json)).toBe(true);
  return isLetThrough && matcher.matches(json);
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
  ["\ud83d", { a: "half of a sign: \ud83d" }],
  ["\u212a", { a: "100 k" }],
  ["straße", { a: "STRAẞE" }],
  ["i̇stanbul", { a: "İSTANBUL" }],
  ["table oak", { a: "An OAK table" }],
  ["smith oak", { name: "Eve Smith", message: "An oak table" }],
  ["  oak \t table\u3000", { a: "table", b: ["oak"] }],
  ['"oak table"', { a: "An Oak Table" }],
  ['smith "oak table" 42', { a: "Smith", b: "my oak table", c: 42 }],
  ['"oak table', { a: "An oak table" }],
  ['oak"table top"', { a: "table top, oak" }],
  ['"a b" c d', { a: "d, a b, c" }],
  ['5" pipe', { a: '5" pipe' }],
  ['"', { a: 'a " sign' }],
  [" ", { a: "a b" }],
  ["one two three four five six", { a: "six five four", b: "three two one" }],
  ["řehoř привет 林", { a: "Řehoř", b: "Привет", c: "林" }],
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
  ["oak chair", { a: "An oak table" }],
  ['"table oak"', { a: "An oak table" }],
  ['"oak table"', { a: "oak", b: "table" }],
  ['"a b" c d', { a: "c d, b a" }],
  ['""', { a: "" }],
  ["one two three four five six", { a: "one two three four five" }],
  ["oak name", { name: "oak" }],
  ["oak a", { a: "ok" }],
])("%j is not found in %j", (wanted, data) => {
  expect(finds(wanted, data)).toBe(false);
});

test("every letter is found by its small form", () => {
  const db = temporaryDatabase();
  for (let code = 0x41; code < 0x20000; code += 1) {
    const letter = String.fromCodePoint(code);
    const wanted = `x${letter.toLowerCase()}`;
    if (letter.toLowerCase() === letter || !`X${letter}`.toLowerCase().includes(wanted)) continue;
    const { sql, patterns } = createTextMatcher(wanted);
    const condition = db.prepare(`SELECT ${sql} FROM (SELECT ? AS data)`).pluck();
    expect(condition.get(...patterns, JSON.stringify({ a: `X${letter}` })), wanted).toBe(1);
  }
});

test("a search in another alphabet lets through no submission of ASCII alone", () => {
  const letThrough = (wanted: string, data: string): unknown => {
    const { sql, patterns } = createTextMatcher(wanted);
    return temporaryDatabase()
      .prepare(`SELECT ${sql} FROM (SELECT ? AS data)`)
      .pluck()
      .get(...patterns, data);
  };
  expect(letThrough("привет", '{"a":"nothing but letters of ASCII"}')).toBe(0);
  expect(letThrough("привет", '{"a":"здесь есть другие буквы"}')).toBe(1);
});
