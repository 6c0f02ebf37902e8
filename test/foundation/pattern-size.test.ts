import { assert, constantFrom, nat, property, record, array as listOf, tuple } from "fast-check";
import { RE2JS } from "re2js";
import { expect, test } from "vitest";
import { measurePattern } from "../../src/foundation/pattern-size.ts";

const PIECES = [
  "a",
  ".",
  "\\d",
  "\\pL",
  "\\p{Greek}",
  "[a-z]",
  "[]x]",
  "[^\\pN\\]]",
  "\\Qa{9}\\E",
  "\\x{41}",
  "",
  "^",
  "(?i)",
  "|",
];
const COUNTS = ["", "", "*", "+?", "?", "{3}", "{0,4}", "{2,}", "{5,6}?"];

const piece = tuple(constantFrom(...PIECES), constantFrom(...COUNTS)).map(([text, count]) =>
  ["", "^", "(?i)", "|"].includes(text) ? text : text + count,
);
const group = record({
  open: constantFrom("(", "(?:", "(?P<n>", "(?i:"),
  inner: listOf(piece),
  count: constantFrom(...COUNTS),
});
const pattern = listOf(
  tuple(piece, group, nat(3)).map(([before, { open, inner, count }, depth]) => {
    const nested = open === "(?P<n>" ? 0 : depth;
    return before + open.repeat(nested + 1) + inner.join("") + `)${count}`.repeat(nested + 1);
  }),
  { maxLength: 4 },
).map((parts) => parts.join(""));

test("no pattern has more than twice as many instructions as were estimated without compiling it", () => {
  let compiled = 0;
  const holds = property(pattern, (source) => {
    try {
      const size = RE2JS.compile(source).programSize();
      compiled += 1;
      expect(size, source).toBeLessThanOrEqual(2 * measurePattern(source).size + 4);
    } catch (error) {
      if (!(error as Error).message.includes("error parsing")) throw error;
    }
  });
  assert(holds, { numRuns: 500, seed: 1 });
  expect(compiled).toBeGreaterThan(200);
});

test.each<[string, number]>([
  ["^[a-z]{2,40}$", 42],
  ["(?:ab{3}){10}", 60],
  ["((a){10}){10}", 320],
  ["\\pL{100}", 400],
  ["[\\pL\\pN' -]{1,100}", 400],
  ["a\\{1000}", 7],
  ["[{1000}]", 1],
])("the estimate of %s is %i", (source, size) => {
  expect(measurePattern(source).size).toBe(size);
});

test.each<[string, number]>([
  ["^[0-9a-f]{8}-[0-9a-f]{4}$", 13],
  ["^(?:\\+49|0)[1-9][0-9]{1,14}$", 18],
  ["^a{2,}$", Infinity],
  ["^(?:ab|cde){2}\\b$", 6],
  ["^\\pL?x*$", Infinity],
  ["^(?:^*)*$", 0],
  ["^(?i)a|bc", 2],
])("a match of %s has at most %d characters", (source, length) => {
  expect(measurePattern(source).length).toBe(length);
});

test.each<[string, boolean]>([
  ["^a", true],
  ["\\Aa", true],
  ["(?i)^a", true],
  ["(^a|^b)c", true],
  ["^a|^b", true],
  ["^a|b", false],
  ["(?:^a)?b", false],
  ["(?:^a){0,2}b", false],
  ["a^", false],
  ["", false],
  ["(?m)^a", false],
  ["(?im:^a)", false],
  ["[^a]", false],
  ["\\^a", false],
])("whether %s matches at the beginning only: %s", (source, isAnchored) => {
  expect(measurePattern(source).isAnchored).toBe(isAnchored);
});

test("a pattern that seems anchored and bounded finds nothing later in a text, and nothing longer", () => {
  const texts = listOf(constantFrom("a", "x", "1", "]", "Q", " ", "\n", "λ"), { maxLength: 12 });
  let bounded = 0;
  const holds = property(pattern, texts, (source, characters) => {
    let compiled: RE2JS;
    try {
      compiled = RE2JS.compile(`^${source}`);
    } catch {
      return;
    }
    const { isAnchored, length } = measurePattern(`^${source}`);
    if (!isAnchored) return;
    bounded += 1;
    const matcher = compiled.matcher(characters.join(""));
    if (!matcher.find()) return;
    expect(matcher.start(), source).toBe(0);
    expect(matcher.end(), source).toBeLessThanOrEqual(2 * length);
  });
  assert(holds, { numRuns: 1000, seed: 2 });
  expect(bounded).toBeGreaterThan(300);
});
