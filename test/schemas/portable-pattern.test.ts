import * as fc from "fast-check";
import { expect, test } from "vitest";
import { compilePattern } from "../../src/foundation/pattern.ts";
import { portablePattern } from "../../src/schemas/portable-pattern.ts";

/** Each form that RE2 and ECMA-262 spell differently, or read differently if it is left as it is. */
const SAID_IN_BOTH = [
  "^[0-9]{5}$",
  "^.+$",
  "^a.c$",
  "\\s",
  "^\\S+$",
  "[\\s,]+$",
  "^\\pL+$",
  "^\\p{Greek}+$",
  "^[\\pL\\pN' -]+$",
  "^[\\p{Han}]$",
  "^\\PL$",
  "^[[:alpha:]_]+$",
  "^[^[:space:]]+$",
  "^[[:punct:]]+$",
  "^[]a]+$",
  "^[^]a]+$",
  "^[a\\-z]+$",
  "^[-a]+$",
  "^[+a-]+$",
  "\\Qa.b*\\E+",
  "\\Q(",
  "^\\x41\\x{1F600}?$",
  "^\\101$",
  "\\Aab\\z",
  "^a{,2}$",
  "a}b",
  "a]b",
  "(?P<year>\\d{4})-(?<month>\\d\\d)",
  "^(?:ab|cd)+?$",
  "\\bgo\\b",
  "^[^@]+@[^@]+\\.[a-z]+$",
  "^\\+?[0-9 ()/-]{6,20}$",
  "^#[0-9a-f]{6}$",
  "a/b",
  "^\\t\\a\\v$",
  "^[\\d\\W]+$",
];

/** Texts of the characters that decide: those of the patterns, and those that only one of the two counts as space or line end. */
const text = fc.oneof(
  fc.string({
    unit: fc.constantFrom(...Array.from("ab c.-_,@+/#]}[{(A1é\u00a0\u2028\r\n\t\u000b\u0007ΑΩ漢😀Z019")),
  }),
  fc.constantFrom(
    "2026-11",
    "ab",
    "abcd",
    "a.b**",
    "A",
    "A😀",
    "go on",
    "a{,2}",
    "x@y.zz",
    "#00ff7f",
    "Ω",
    "漢",
  ),
);

test("a pattern is written so that ECMA-262 matches what RE2 matches", () => {
  for (const source of SAID_IN_BOTH) {
    const ours = compilePattern(source);
    if (typeof ours === "string") throw new Error(`${source} ${ours}`);
    const written = portablePattern(source);
    expect(written, source).not.toBeNull();
    const theirs = new RegExp(written ?? "", "u");
    const check = fc.property(text, (value) => {
      expect(theirs.test(value), `${source} as ${written} on ${JSON.stringify(value)}`).toBe(
        ours.matches(value),
      );
    });
    fc.assert(check, { numRuns: 400 });
  }
});

test("what cannot be said in both is not said", () => {
  for (const source of ["(?i)hello", "(?i:hello)", "(?s).", "[\\S]", "[[:^alpha:]]", "\\p{^Greek}"])
    expect([source, portablePattern(source)]).toEqual([source, null]);
});

test("any pattern that both can compile matches the same texts", () => {
  const part = fc.constantFrom(
    "a",
    "b",
    ".",
    "\\s",
    "[^a]",
    "[a-c]",
    "\\.",
    "-",
    "\\-",
    "{",
    "}",
    "]",
    "/",
    "\\pL",
    "[\\s-]",
    " ",
  );
  const source = fc
    .array(fc.tuple(part, fc.constantFrom("", "*", "+", "?", "{2}", "{1,}")), { minLength: 1, maxLength: 5 })
    .map((parts) => parts.map(([one, times]) => one + times).join(""));
  fc.assert(
    fc.property(source, text, (pattern, value) => {
      const ours = compilePattern(pattern);
      const written = portablePattern(pattern);
      fc.pre(typeof ours !== "string" && written !== null);
      expect(new RegExp(written ?? "", "u").test(value)).toBe(
        typeof ours !== "string" && ours.matches(value),
      );
    }),
    { numRuns: 3000 },
  );
});
