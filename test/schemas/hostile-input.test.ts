import { expect, test } from "vitest";
import { compileSchema, type ValidationResult } from "../../src/schemas/compile-schema.ts";
import { parseDefinition } from "../../src/schemas/definition.ts";
import { MAX_ENUM_VALUES } from "../../src/schemas/field-definition.ts";
import { MAX_ISSUES_IN_FIELD, MAX_REPORT_BYTES } from "../../src/schemas/issue-report.ts";

const TEXT_LENGTH = 65_536;
/** What an expression that explodes never keeps. The worst real figure is under 200. */
const PATIENCE_MS = 2500;

function validate(
  definition: unknown,
  body: Record<string, unknown>,
  mode: "drop" | "reject" = "drop",
): ValidationResult {
  return compileSchema(parseDefinition(definition), mode).validate(body);
}

/** Milliseconds that the slowest of the texts takes, the first and cold time included. */
function slowest(field: object, texts: readonly string[]): number {
  const schema = compileSchema(parseDefinition({ f: field }), "drop");
  const times = texts.map((f) => {
    const start = performance.now();
    schema.validate({ f });
    return performance.now() - start;
  });
  return Math.max(...times);
}

function repeated(unit: string): string {
  return unit.repeat(Math.ceil(TEXT_LENGTH / unit.length)).slice(0, TEXT_LENGTH);
}

/** A text of the given letters in an order that repeats late. */
function scrambled(letters: string): string {
  let state = 1;
  return Array.from({ length: TEXT_LENGTH }, () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return letters.charAt(Math.floor((state / 2 ** 32) * letters.length));
  }).join("");
}

const TEXTS = [
  ...["a", "ab", "aab", " a", "a.", "-", "(", "й", "🙂", `${"a".repeat(40)}b`].map(repeated),
  ...["ab", "ab \n", "aA1_ .", "abйц"].map(scrambled),
];

test.each([
  "(a+)+$",
  "^(a+)+$",
  "(a|aa)*c",
  "(a*)*[cd]",
  "(x+x+)+y",
  "(.*)(.*)(.*)(.*)[^\\x00-\\x{10FFFF}]",
  "(a|b)*a(a|b){13}[cd]",
  "[ab]*a[ab]{42}[cd]",
  "\\pL{1,20}[.]$",
  "(?:(?:[a-zб]|\\pL))*a\\pL{40}\\x{1}$",
  "(\\b\\w*){7}\\B[cd]",
  "^.{2,140}$",
  "^\\pL{1,450}$",
  "^[A-Z]{2}[0-9]{2}(?:[ ]?[A-Z0-9]{4}){3,7}[ ]?[A-Z0-9]{1,4}$",
  "^(?:(?:a|b|.)?){300}[cd]$",
  "^([a-zA-Z0-9])(([\\-.]|[_]+)?([a-zA-Z0-9]+))*(@){1}[a-z0-9]+[.]{1}(([a-z]{2,3})|([a-z]{2,3}[.]{1}[a-z]{2,3}))$",
])("the pattern %s is matched against 64 KiB of any text in time", (pattern) => {
  expect(slowest({ type: "string", pattern }, TEXTS)).toBeLessThan(PATIENCE_MS);
});

test.each([
  "\\p{L}{46}",
  "(?:\\B)+(?:\\p{L}|.{5,9})(?:[ab]*(?:b|a)|(?:(?i:a)|(?s:.)){1,5})z",
  "[ab]*a[ab]{42}[cd]",
])(
  "the pattern %s is matched against 64 KiB of items of any length in time, and as if each were alone",
  (pattern) => {
    const search = compileSchema(
      parseDefinition({ f: { type: "array", items: { type: "string", pattern } } }),
      "drop",
    );
    const once = new RegExp(pattern.replace("(?i:a)", "[aA]").replace("(?s:.)", "[^]"), "u");
    for (const length of [3, 13, 40, 60, 200]) {
      const items = TEXTS.flatMap(
        (text) => text.slice(0, 5000).match(new RegExp(`[^]{${length}}`, "gu")) ?? [],
      );
      const start = performance.now();
      const result = search.validate({ f: items });
      expect(performance.now() - start).toBeLessThan(PATIENCE_MS);
      const failing = "details" in result ? (result.details["f"]?.issues ?? []) : [];
      const expected = items.flatMap((item, index) => (once.test(item) ? [] : [String(index)]));
      expect(failing.map(({ path }) => path[1])).toEqual(expected.slice(0, MAX_ISSUES_IN_FIELD));
    }
  },
);

test("e-mail addresses and URLs of 64 KiB are judged in time", () => {
  const emails = ["a@", "a.", "a@a.", "@", "a@-."].map((unit) => `a@${repeated(unit)}`);
  const locals = ["a", "a.", ".", "'", "+"].map((unit) => `${repeated(unit)}@example.com`);
  expect(slowest({ type: "string", format: "email" }, [...TEXTS, ...emails, ...locals])).toBeLessThan(
    PATIENCE_MS,
  );
  const urls = ["a/", "../", "%", "a.", "@", ":", "?", "[", "é.", "\\", "\t"].map(
    (unit) => `https://${repeated(unit)}`,
  );
  expect(slowest({ type: "string", format: "url" }, [...TEXTS, ...urls])).toBeLessThan(PATIENCE_MS);
});

test("a text over its maxLength is refused as such even if its pattern would take too long", () => {
  const definition = { f: { type: "string", maxLength: 500, pattern: "\\pL{1,100}[.]$" } };
  const near = validate(definition, { f: "a".repeat(501) });
  expect(near).toMatchObject({ details: { f: { issues: [{ code: "too_big" }, { validation: "regex" }] } } });
  const far = validate(definition, { f: repeated("a") });
  expect(far).toMatchObject({ details: { f: { issues: [{ code: "too_big" }] } } });
});

test("thousands of wrong items are answered with a few issues", () => {
  const list = Array.from({ length: 30_000 }, () => 1);
  const result = validate({ f: { type: "array", items: { type: "string" } } }, { f: list });
  expect("details" in result && result.details["f"]?.issues).toHaveLength(MAX_ISSUES_IN_FIELD);
});

test("the answer stays small however much each issue could repeat, and no failing field is left out", () => {
  const options = Array.from({ length: MAX_ENUM_VALUES }, (_, index) => `option number ${index}`);
  const definition = Object.fromEntries(
    Array.from({ length: 3 }, (_, index) => [
      `f${index}`,
      { type: "array", items: { type: "string", enum: options } },
    ]),
  );
  const body = Object.fromEntries(
    Object.keys(definition).map((name) => [name, Array.from({ length: 5000 }, () => "x")]),
  );
  const result = validate(definition, body);
  expect(Object.keys("details" in result ? result.details : {})).toEqual(["f0", "f1", "f2"]);
  const definitionSize = JSON.stringify(definition).length;
  expect(JSON.stringify(result).length).toBeLessThan(MAX_REPORT_BYTES + definitionSize);
});

test("thousands of undeclared members are answered with a few", () => {
  const body = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`x${index}`, 1]));
  const result = validate({ o: { type: "object", properties: {} } }, { ...body, o: body }, "reject");
  expect(Object.keys("details" in result ? result.details : {})).toHaveLength(101);
  expect(JSON.stringify(result).length).toBeLessThan(20_000);
});

test("nesting beyond any stack is taken by fields that accept anything", () => {
  const deep = JSON.parse(`${"[".repeat(100_000)}${"]".repeat(100_000)}`) as unknown;
  const definition = { o: { type: "object" }, l: { type: "array" }, s: { type: "string" } };
  expect(validate(definition, { o: { deep }, l: [deep] }).ok).toBe(true);
  expect(validate(definition, { s: deep }).ok).toBe(false);
});
