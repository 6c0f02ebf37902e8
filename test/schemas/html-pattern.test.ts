import { describe, expect, test } from "vitest";
import { compilePattern } from "../../src/foundation/pattern.ts";
import { htmlPattern } from "../../src/schemas/html-pattern.ts";

/** What a browser does with the attribute: https://html.spec.whatwg.org/#attr-input-pattern */
function browserTakes(attribute: string, value: string): boolean {
  return new RegExp(`^(?:${attribute})$`, "v").test(value);
}

const VALUES = [
  "",
  "a",
  "b",
  "ab",
  "A1",
  "12345",
  "1234",
  "AB-12",
  "ä",
  "a\u00a0b",
  "a b",
  "x|y",
  "+",
  "-",
  ".",
  "$",
  "^a$",
];

describe("a pattern that is anchored is checked by the browser as the server checks it", () => {
  test.each([
    "^[A-Z]{2}-[0-9]{2}$",
    "^\\d{5}$",
    "^(a|b)+$",
    "\\A[[:alpha:]]+\\z",
    "^a\\sb$",
    "^[]$^.|]$",
    "^\\Qx|y\\E$",
    "^$",
  ])("%s", (source) => {
    const attribute = htmlPattern(source);
    const pattern = compilePattern(source);
    if (attribute === null || typeof pattern === "string") throw new Error(`${source} is left out`);
    for (const value of VALUES)
      expect([value, browserTakes(attribute, value)]).toEqual([value, pattern.matches(value)]);
  });
});

test.each([
  "[0-9]{5}",
  "^[0-9]{5}",
  "[0-9]{5}$",
  "^a|b$",
  "^a\\$",
  "(?i)^a$",
  "^[+--a]$",
  "^[a&&b]$",
  "^[a-]$",
])("a pattern that would mean something else in a browser is left to the server: %s", (source) => {
  expect(htmlPattern(source)).toBeNull();
});
