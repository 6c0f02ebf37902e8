import { expect, test } from "vitest";
import type { SqliteDatabase } from "../../src/database/sqlite/sqlite-database.ts";
import { createTextMatcher, type TextMatcher } from "../../src/submissions/find/match-text.ts";
import { temporaryDatabase } from "../support/temporary-database.ts";

function letsThrough(
  db: SqliteDatabase,
  { sql, parameters }: TextMatcher,
  json: string,
  setAside: string | null = null,
): boolean {
  const row = "SELECT ? AS data, ? AS unknown_fields";
  const condition = db.prepare(`SELECT ${sql?.sqlite ?? "1"} FROM (${row})`).pluck();
  return condition.get(...parameters, json, setAside) === 1;
}

/** As a search does it: the condition first, by SQLite. */
function finds(wanted: string, data: unknown): boolean {
  const matcher = createTextMatcher(wanted);
  const json = JSON.stringify(data);
  const isLetThrough = letsThrough(temporaryDatabase(), matcher, json);
  expect(isLetThrough || !matcher.matches([json])).toBe(true);
  return isLetThrough && matcher.matches([json]);
}

test.each<[string, unknown]>([
  ["quiet", { a: "A QUIET table" }],
  ["ŘEHOŘ", { a: "Tomáš Řehoř" }],
  ["привет", { a: "ПРИВЕТ, мир" }],
  ["ΣΟΦΟΣ", { a: "ο σοφός, οι σοφοσ, ΣΟΦΟΣ" }],
  ["ΠΑΠΑΣ", { a: "Παπασταύρου" }],
  ["νικος", { a: "ΝΙΚΟΣΤΡΑΤΟΣ" }],
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

test("a word is found in what was set aside too, and one of several in each", () => {
  const [data, setAside] = ['{"a":"An oak table"}', '{"phone":"PŘES 0123","list.0.b":42}'];
  for (const [wanted, isThere] of [
    ["0123", true],
    ["přes", true],
    ["oak 42", true],
    ["phone", false],
    ["oak 43", false],
  ] as const) {
    const matcher = createTextMatcher(wanted);
    const found =
      letsThrough(temporaryDatabase(), matcher, data, setAside) && matcher.matches([data, setAside]);
    expect([wanted, found]).toEqual([wanted, isThere]);
  }
});

test("every letter is found by its small form", () => {
  const db = temporaryDatabase();
  for (let code = 0x41; code < 0x20000; code += 1) {
    const letter = String.fromCodePoint(code);
    const wanted = `x${letter.toLowerCase()}`;
    if (letter.toLowerCase() === letter || !`X${letter}`.toLowerCase().includes(wanted)) continue;
    expect(letsThrough(db, createTextMatcher(wanted), JSON.stringify({ a: `X${letter}` })), wanted).toBe(
      true,
    );
  }
});

test("a search in another alphabet lets through no submission of ASCII alone", () => {
  const letThrough = (wanted: string, data: string): boolean =>
    letsThrough(temporaryDatabase(), createTextMatcher(wanted), data);
  expect(letThrough("привет", '{"a":"nothing but letters of ASCII"}')).toBe(false);
  expect(letThrough("привет", '{"a":"здесь есть другие буквы"}')).toBe(true);
});

test("a text costs a search its own length, and not that times the length of what is sought", () => {
  const letter = "a";
  const text = JSON.stringify({ a: letter.repeat(64_000) });
  const sought = [
    `${letter.repeat(199)}b`,
    `b${letter.repeat(199)}`,
    `${letter.repeat(100)}b${letter.repeat(99)}`,
    `b${"\\".repeat(199)}`,
    "\u0130".repeat(200),
  ];
  const db = temporaryDatabase();
  for (const wanted of sought) {
    const matcher = createTextMatcher(wanted);
    const rounds = Array.from({ length: 5 }, () => {
      const begun = performance.now();
      letsThrough(db, matcher, text);
      matcher.matches([text]);
      return performance.now() - begun;
    });
    // Of some that a busy machine held up, the quickest; 12 ms is a thousand times what one comparison of all characters takes.
    expect(Math.min(...rounds), wanted.slice(0, 20)).toBeLessThan(12);
  }
});

test.each([
  ["x".repeat(201), "search for at most 200 characters"],
  [
    Array.from({ length: 11 }, (_, index) => `w${index}`).join(" "),
    "search for at most 10 words; there are 11",
  ],
])("what would take too long is refused with a sentence: %.20s", (wanted, message) => {
  expect(() => createTextMatcher(wanted)).toThrow(message);
});
