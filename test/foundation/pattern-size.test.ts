import { assert, constantFrom, nat, property, record, array as listOf, tuple } from "fast-check";
import { RE2JS } from "re2js";
import { expect, test } from "vitest";
import { estimateSize } from "../../src/foundation/pattern-size.ts";

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
      expect(size, source).toBeLessThanOrEqual(2 * estimateSize(source) + 4);
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
  expect(estimateSize(source)).toBe(size);
});
