import * as fc from "fast-check";
import { expect, test } from "vitest";
import { jsonFault, sayJsonFault } from "../../src/foundation/json-fault.ts";

function errorOf(text: string): unknown {
  try {
    JSON.parse(text);
  } catch (error) {
    return error;
  }
  return null;
}

test.each([
  ['{"token": geheim123}', "line 1, column 11: Unexpected token 'g'"],
  ['{"a": "x",\n  "b" "geheim"}', "line 2, column 7: Expected ':' after property name"],
  ['{"a": ["geheim"', "line 1, column 16: Expected ',' or ']' after array element"],
  ['{"a":\n"geheim', "line 2, column 8: Unterminated string"],
  ['{"a":1,}', "line 1, column 8: Expected double-quoted property name"],
  ["[1,\n2,\n]", "line 3, column 1: Unexpected token ']'"],
  ["{geheim}", "line 1, column 2: Expected property name or '}'"],
  ["[01]", "line 1, column 3: Unexpected number"],
  ['["geh\\eim"]', "line 1, column 6: Bad escaped character"],
  ['{"a":1} {', "line 1, column 9: Unexpected non-whitespace character after JSON"],
  ["", "line 1, column 1: Unexpected end of JSON input"],
])("%j is not JSON, and the place is told without a piece of the text", (text, said) => {
  expect(sayJsonFault(text, errorOf(text))).toBe(said);
});

test("the place lies in the text, behind what is right, and never more than the reason is told", () => {
  const signs = [
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    '"',
    "\\",
    "a",
    "1",
    "-",
    ".",
    " ",
    "\n",
    "true",
    '"k"',
    "\u0007",
  ];
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...signs), { maxLength: 30 }), (parts) => {
      const text = parts.join("");
      const error = errorOf(text);
      if (error === null) return;
      const { line, column, reason } = jsonFault(text, error);
      const lines = text.split("\n");
      expect(line).toBeLessThanOrEqual(lines.length);
      expect(column).toBeLessThanOrEqual((lines[line - 1] ?? "").length + 1);
      expect(reason).toMatch(/^[A-Za-z][\w ,.:'{}[\]-]{1,60}$/);
      const at = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0) + column - 1;
      // Where the engine says a place itself, it is not before ours, but for a text that it reads on.
      const place = /position (\d+)/.exec((error as Error).message)?.[1];
      if (place !== undefined) expect(at).toBeLessThanOrEqual(Number(place));
    }),
    { numRuns: 2000 },
  );
});

test("a text with 200,000 levels or 4 MiB of strings is looked through as well", () => {
  const deep = `${"[".repeat(200_000)}x`;
  expect(jsonFault(deep, errorOf(deep))).toMatchObject({ line: 1, column: 200_001 });
  const long = `["${"\\n".repeat(2_000_000)}", x]`;
  expect(jsonFault(long, errorOf(long)).column).toBe(4_000_006);
});
