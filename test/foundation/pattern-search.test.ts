import { RE2JS } from "re2js";
import { expect, test } from "vitest";
import { compilePattern } from "../../src/foundation/pattern.ts";

/** Each with what it is found in, and what stands before and behind without being found. */
const CASES: readonly (readonly [source: string, hit: string, filler: string])[] = [
  ["[ab]*a[ab]{13}[cd]", "abababababababac", "ab"],
  ["(?i)(buy|cheap).{0,20}(now|pills)", "Cheap and good PILLS", "chea p"],
  ["(\\b\\w*){7}\\B[cd]", "xxxd", "a "],
  ["(?:ä|🙂){3}", "ä🙂ä", "ää "],
  ["z$|\\Az", "z", "y"],
];

test.each(CASES)("%s is found in a text of any length, wherever it stands", (source, hit, filler) => {
  const pattern = compilePattern(source);
  if (typeof pattern === "string") throw new Error(pattern);
  expect(pattern.isOnePass).toBe(false);
  const reference = RE2JS.compile(source);
  // Around the length from which it is searched another way.
  const border = Math.ceil(262_144 / pattern.size);
  for (const length of [0, 3, 200, border - 40, border - 1, border, border + 1, 2 * border]) {
    const text = filler.repeat(Math.ceil(length / filler.length)).slice(0, length);
    for (const whole of [text, text + hit, hit + text, text + hit + text])
      expect(pattern.matches(whole), `${whole.length} characters`).toBe(reference.test(whole));
  }
});

test.each(["^(?:a|ab)(?:c|bcd){2,3}$", "^(?i)(a+)+b{2}"])("%s matches at the beginning alone", (source) => {
  const pattern = compilePattern(source);
  if (typeof pattern === "string") throw new Error(pattern);
  const reference = RE2JS.compile(source);
  const long = "x".repeat(300_000);
  for (const text of ["abcdbcd", "abcbcd", "AAABB", "aaa", "xabcdbcd", `abcdbcd${long}`, `aabb${long}`, long])
    expect(pattern.matches(text), text.slice(0, 20)).toBe(reference.test(text));
});
