import * as fc from "fast-check";
import { expect, test } from "vitest";
import { FormsvcError } from "../../src/foundation/errors.ts";
import { MAX_DEFINITION_BYTES } from "../../src/schemas/check-json.ts";
import { compileSchema } from "../../src/schemas/compile-schema.ts";
import { parseDefinition } from "../../src/schemas/definition.ts";
import {
  MAX_DESCRIPTION_LENGTH,
  MAX_ENUM_VALUES,
  MAX_FIELD_DEPTH,
  MAX_FIELD_NAME_LENGTH,
  MAX_FIELDS,
} from "../../src/schemas/field-definition.ts";
import { MAX_PATTERN_LENGTH, MAX_PATTERN_COST_IN_SCHEMA } from "../../src/foundation/pattern.ts";
import { json, nearMiss, sample } from "./definition-arbitrary.ts";

interface Refusal {
  readonly message: string;
  readonly problems: readonly { path: string; message: string }[];
}

/** How a definition is refused; undefined if it is accepted. Anything but `schema_invalid` goes through. */
function refusal(input: unknown): Refusal | undefined {
  try {
    parseDefinition(input);
    return undefined;
  } catch (error) {
    if (!(error instanceof FormsvcError) || error.code !== "schema_invalid") throw error;
    return { message: error.message, ...(error.facts.details as Pick<Refusal, "problems">) };
  }
}

/** The problems of a schema with this one field `f`, each as "path message". */
function problemsOf(field: unknown): string[] {
  return (refusal({ f: field })?.problems ?? []).map(({ path, message }) => `${path} ${message}`);
}

test("a misspelt property is refused with the name that was meant", () => {
  expect(problemsOf({ type: "string", minLenght: 2 })).toEqual([
    'f.minLenght is not a property of a field of type string; did you mean "minLength"?',
  ]);
  expect(problemsOf({ type: "string", Required: true })[0]).toContain('did you mean "required"?');
  expect(problemsOf({ type: "number", max: 3 })[0]).toContain('did you mean "maximum"?');
  expect(problemsOf({ type: "strng" })).toEqual([
    'f.type must be one of string, number, boolean, object, array, file, not "strng"; did you mean "string"?',
  ]);
  expect(problemsOf({ type: "string", format: "e-mail" })[0]).toContain('did you mean "email"?');
});

test("a property of another type, or like none, is refused with the types it is for and all the ones that fit", () => {
  const ofNumber = "the properties are type, required, label, description, minimum, maximum, enum, default";
  expect(problemsOf({ type: "number", minLength: 2 })).toEqual([
    `f.minLength is not a property of a field of type number; "minLength" is for fields of type string; ${ofNumber}`,
  ]);
  expect(problemsOf({ type: "string", minimun: 2 })[0]).toContain(
    'of type string; "minimum" is for fields of type number; the properties are type, required, ',
  );
  for (const name of ["xyzzyq", "x".repeat(10_000), "", "é", "number"])
    expect(problemsOf({ type: "string", [name]: 1 })[0]).toMatch(
      /of type string; the properties are type, required, /,
    );
  for (const type of ["number", "boolean", "object", "array"]) {
    expect(problemsOf({ type, format: "email" })).toHaveLength(1);
    expect(problemsOf({ type, pattern: "a" })).toHaveLength(1);
  }
});

test("all problems are told at once, each with a line in the message", () => {
  const told = refusal({ a: { type: "text" }, b: { type: "number", minimum: "1" }, "c d": 5 });
  expect(told?.problems.map(({ path }) => path)).toEqual(["a.type", "b.minimum", '["c d"]']);
  expect(told?.message.split("\n")).toEqual([
    expect.stringMatching(/^schema: a\.type must be one of /),
    expect.stringMatching(/^schema: b\.minimum must /),
    expect.stringMatching(/^schema: \["c d"\] must be a field definition /),
  ]);
});

test("JSON Schema is told apart, with what to give instead", () => {
  const told = refusal({ type: "object", properties: { email: { type: "string" } } });
  expect(told?.message).toMatch(
    /^the schema looks like JSON Schema; give only what is inside its properties/,
  );
  expect(refusal({ type: { type: "string" }, properties: { type: "string" } })).toBeUndefined();
});

test("a definition that is no object, or has no object for a field, is refused", () => {
  for (const input of [null, 1, "x", true, []]) expect(refusal(input)?.problems).toHaveLength(1);
  for (const field of [null, 1, "string", true, []]) expect(problemsOf(field)).toHaveLength(1);
  expect(problemsOf({})).toEqual([
    "f has no type; give it one of string, number, boolean, object, array, file",
  ]);
});

test.each([
  ["required", "string", ["yes", 1, null]],
  ["description", "string", [1, null, "x".repeat(MAX_DESCRIPTION_LENGTH + 1)]],
  ["minLength", "string", [-1, 1.5, "1", null]],
  ["maxLength", "string", [-1, 1.5, "1", null]],
  ["format", "string", ["uuid", 1, null]],
  ["pattern", "string", [1, null, "("]],
  ["minimum", "number", ["1", null, true]],
  ["maximum", "number", ["1", null, true]],
  ["minItems", "array", [-1, 0.5, null]],
  ["maxItems", "array", [-1, 0.5, null]],
  ["items", "array", [1, null, "string", {}, { type: "x" }]],
  ["properties", "object", [1, null, [], { a: 1 }, { a: {} }]],
  ["enum", "string", ["a", null, [], [1], ["a", "a"], ["a", null]]],
  ["enum", "number", [[], ["1"], [1, 1]]],
  ["enum", "boolean", [[], ["true"], [true, true]]],
  ["default", "string", [1, null, ["a"]]],
  ["default", "number", ["1", null]],
  ["default", "boolean", ["true", null, 0]],
  ["default", "object", [[], null, "x"]],
  ["default", "array", [{}, null, "x"]],
])("a wrong %s of a %s is refused", (property, type, values) => {
  for (const value of values) {
    const problems = problemsOf({ type, [property]: value });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(new RegExp(`^f\\.${property}`));
  }
});

test("bounds that cross are refused, equal ones are not", () => {
  expect(problemsOf({ type: "string", minLength: 3, maxLength: 2 })).toEqual([
    "f.minLength must not be greater than maxLength; 3 is greater than 2",
  ]);
  expect(problemsOf({ type: "number", minimum: 0.2, maximum: 0.1 })).toHaveLength(1);
  expect(problemsOf({ type: "array", minItems: 1, maxItems: 0 })).toHaveLength(1);
  expect(problemsOf({ type: "string", minLength: 2, maxLength: 2 })).toEqual([]);
});

test("a default and the values of an enum must satisfy the field's own rules", () => {
  expect(problemsOf({ type: "string", format: "email", default: "ann" })).toEqual([
    'f.default has "ann", which the field\'s own rules refuse: f must be an e-mail address',
  ]);
  expect(problemsOf({ type: "number", maximum: 2, default: 3 })).toHaveLength(1);
  expect(problemsOf({ type: "string", enum: ["a"], default: "b" })).toHaveLength(1);
  expect(problemsOf({ type: "string", pattern: "^a", default: "b" })).toHaveLength(1);
  expect(problemsOf({ type: "array", items: { type: "number" }, default: ["b"] })).toHaveLength(1);
  const properties = { a: { type: "string", required: true } };
  expect(problemsOf({ type: "object", properties, default: {} })).toHaveLength(1);
  expect(problemsOf({ type: "object", properties, default: { a: "", b: "" } })[0]).toContain("not known: b");
  expect(problemsOf({ type: "string", maxLength: 3, enum: ["four", "two", "three"] })).toHaveLength(2);
  expect(problemsOf({ type: "number", minimum: 0, enum: [-1, 1] })).toHaveLength(1);
});

test("lookaround and back-references are refused with a message that says so, other bad syntax with the place", () => {
  for (const pattern of ["a(?=b)", "a(?!b)", "(?<=a)b", "(?<!a)b"]) {
    expect(problemsOf({ type: "string", pattern })[0]).toContain("lookahead or lookbehind");
  }
  for (const pattern of ["(a)\\1", "(?P<n>a)\\k<n>"]) {
    expect(problemsOf({ type: "string", pattern })[0]).toContain("back-reference");
  }
  expect(problemsOf({ type: "string", pattern: "a{1001}" })[0]).toContain("repetition count");
  expect(problemsOf({ type: "string", pattern: "[a" })[0]).toContain("missing closing ]");
  expect(problemsOf({ type: "string", pattern: "\\p{Latin}+(?<year>[0-9]{4})" })).toEqual([]);
});

test("patterns are bounded in length, in size and in the work they can make of a long text", () => {
  expect(problemsOf({ type: "string", maxLength: 99, pattern: "a".repeat(MAX_PATTERN_LENGTH) })).toEqual([]);
  expect(
    problemsOf({ type: "string", maxLength: 99, pattern: "a".repeat(MAX_PATTERN_LENGTH + 1) }),
  ).toHaveLength(1);
  expect(problemsOf({ type: "string", pattern: "^[A-Za-z ]{2,200}$" })).toEqual([]);
  const [slow] = problemsOf({ type: "string", pattern: "\\w{1,100}!" });
  const bound = Number(/maxLength of (\d+) or less/.exec(slow ?? "")?.[1]);
  expect(problemsOf({ type: "string", pattern: "\\w{1,100}!", maxLength: bound })).toEqual([]);
  expect(problemsOf({ type: "string", pattern: "\\w{1,100}!", maxLength: bound + 1 })).toHaveLength(1);
  expect(
    problemsOf({ type: "array", items: { type: "string", pattern: "\\w{1,100}!", maxLength: 9 } }),
  ).toHaveLength(1);
  const searched = { type: "string", pattern: "\\w{1,100}!", maxLength: bound };
  expect(refusal({ a: searched, b: searched })?.problems).toHaveLength(1);
  expect(
    refusal({ a: searched, b: { ...searched, maxLength: 9 }, c: { type: "string" } })?.problems,
  ).toHaveLength(1);
  expect(
    refusal({ a: { ...searched, maxLength: bound - 9 }, b: { ...searched, maxLength: 9 } }),
  ).toBeUndefined();

  const field = { type: "string", pattern: "^a{900}$" };
  const fits = Math.floor(MAX_PATTERN_COST_IN_SCHEMA / 910);
  const fields = (count: number): unknown =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, field]));
  expect(refusal(fields(fits))).toBeUndefined();
  expect(refusal(fields(fits + 3))?.problems).toHaveLength(1);
  expect(problemsOf({ type: "string", maxLength: 1, pattern: "a{1000}".repeat(7) })[0]).toContain("together");
});

test("a pattern is refused for its repetition counts before it is compiled, which could take seconds", () => {
  for (const pattern of [
    `(?:${"\\pL".repeat(160)}){1000}`,
    `(?:${"(a?)".repeat(100)}){1000}`,
    "(?:[a-z]{9}){999}",
  ])
    expect(problemsOf({ type: "string", maxLength: 1, pattern })[0]).toContain(
      "is too large with its repetition counts written out; lower them, or bound lengths with maxLength",
    );
});

test("classes of a script or category count more than a character, and still fit into every form of names", () => {
  const fields = (count: number, pattern: string) =>
    Object.fromEntries(
      Array.from({ length: count }, (_, index) => [`f${index}`, { type: "string", maxLength: 100, pattern }]),
    );
  expect(refusal(fields(10, "^[\\p{L}\\p{M} .'-]{1,100}$"))).toBeUndefined();
  expect(refusal(fields(100, "^[\\p{L}\\p{M} .'-]+$"))).toBeUndefined();
  const wide = `^${"\\pL".repeat(160)}$`;
  expect(refusal(fields(1, wide))).toBeUndefined();
  expect(refusal(fields(2, wide))?.problems).toEqual([
    { path: "f1.pattern", message: expect.stringMatching(/together; .*fewer classes like \\pL/) as unknown },
  ]);
});

test.each([
  "^[A-Z]{2}[0-9]{2}(?:[ ]?[A-Z0-9]{4}){3,7}[ ]?[A-Z0-9]{1,4}$",
  "^[A-Z]{2}\\d{2}[ ]?(?:[A-Z0-9]{4}[ ]?){2,7}[A-Z0-9]{1,4}$",
  "^([A-Z]{2}[ \\-]?[0-9]{2})((?:[ \\-]?[A-Z0-9]{3,5}){2,7})([ \\-]?[A-Z0-9]{1,3})?$",
  "(?i)^(?:DE\\d{2}(?: ?\\d{4}){4} ?\\d{2}|(?:[a-z]{2}\\d{2} ?)(?:[a-z0-9]{1,4} ?){3,8})$",
])("the anchored pattern %s of an IBAN is taken as it is, and needs no maxLength", (pattern) => {
  expect(problemsOf({ type: "string", pattern })).toEqual([]);
  const check = compileSchema(parseDefinition({ f: { type: "string", pattern } }), "drop");
  const flags = pattern.startsWith("(?i)") ? "i" : "";
  const reference = new RegExp(pattern.replace("(?i)", ""), flags);
  const numbers = ["DE89 3704 0044 0532 0130 00", "GB82WEST12345698765432", "NO93 8601 1117 947", "DE89"];
  const texts = numbers.flatMap((iban) => [
    iban,
    ` ${iban}`,
    `${iban}\n`,
    `${iban}!`,
    iban + iban.repeat(99),
  ]);
  for (const f of texts) expect([f, check.validate({ f }).ok]).toEqual([f, reference.test(f)]);
  const accepted = texts.filter((f) => check.validate({ f }).ok);
  expect(accepted.length).toBeGreaterThan(1);
});

test("a pattern that is anchored but too large is told what helps, and not to anchor it", () => {
  const large = "^[^@]+@[^@]+[.][a-z]{2,63}$";
  const inArray = { type: "array", items: { type: "string", pattern: "^(?:\\w\\w? ?){3,30}$" } };
  for (const field of [{ type: "string", pattern: large }, inArray]) {
    const [problem] = problemsOf(field);
    expect(problem).toContain("is too large");
    expect(problem).not.toContain("anchor");
  }
  expect(problemsOf({ type: "string", pattern: "\\w{1,100}!" })[0]).toContain("; anchor it with ^ and $, ");
  expect(problemsOf({ type: "string", pattern: "^\\w{1,100}!$" })).toEqual([]);
  const huge = problemsOf({ type: "string", pattern: "^(?:a?){990}(?:b?){990}$" });
  expect(huge).toEqual([expect.stringMatching(/is too large \(\d+ steps\).*; lower its repetition counts/)]);
  expect(problemsOf({ type: "string", pattern: "^(?:a?){990}(?:b?){990}$", maxLength: 700 })).toEqual([]);
});

test("names of fields may be anything but empty, too long or __proto__", () => {
  const names = ["constructor", "toString", "hasOwnProperty", "_gotcha", "a b", "é", "0", "then"];
  const definition = Object.fromEntries(names.map((name) => [name, { type: "string" }]));
  expect(Object.keys(parseDefinition(definition)).sort()).toEqual(names.sort());
  for (const text of ['{"":{"type":"string"}}', '{"__proto__":{"type":"string"}}']) {
    expect(refusal(JSON.parse(text))?.problems[0]?.message).toContain("cannot be the name");
  }
  const nested = JSON.parse(
    '{"a":{"type":"object","properties":{"__proto__":{"type":"string"}}}}',
  ) as unknown;
  expect(refusal(nested)?.problems).toHaveLength(1);
  const property = JSON.parse('{"a":{"type":"string","__proto__":{"required":true}}}') as unknown;
  expect(refusal(property)?.problems).toHaveLength(1);
  expect(refusal({ ["x".repeat(MAX_FIELD_NAME_LENGTH)]: { type: "string" } })).toBeUndefined();
  expect(refusal({ ["x".repeat(MAX_FIELD_NAME_LENGTH + 1)]: { type: "string" } })?.problems).toHaveLength(1);
});

test("a schema is bounded in fields, depth, enum values and bytes", () => {
  const fields = (count: number): unknown =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, { type: "string" }]));
  expect(refusal(fields(MAX_FIELDS))).toBeUndefined();
  expect(refusal(fields(MAX_FIELDS + 5))?.problems).toHaveLength(1);

  const nest = (depth: number): unknown =>
    depth === 0 ? { type: "string" } : { type: "array", items: nest(depth - 1) };
  expect(problemsOf(nest(MAX_FIELD_DEPTH))).toEqual([]);
  expect(problemsOf(nest(MAX_FIELD_DEPTH + 1))).toHaveLength(1);

  const options = Array.from({ length: MAX_ENUM_VALUES + 1 }, (_, index) => index);
  expect(problemsOf({ type: "number", enum: options })).toHaveLength(1);
  expect(problemsOf({ type: "number", enum: options.slice(1) })).toEqual([]);

  expect(problemsOf({ type: "string", default: "x".repeat(MAX_DEFINITION_BYTES - 100) })).toEqual([]);
  expect(problemsOf({ type: "string", default: "x".repeat(MAX_DEFINITION_BYTES) })).toHaveLength(1);
  expect(problemsOf({ type: "string", default: "é".repeat(MAX_DEFINITION_BYTES / 2) })).toHaveLength(1);
});

test("a definition nested beyond any stack, circular, or holding what JSON cannot hold is refused", () => {
  const deep = JSON.parse(`${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`) as unknown;
  expect(refusal(deep)?.problems).toHaveLength(1);
  const list = JSON.parse(`${"[".repeat(5000)}${"]".repeat(5000)}`) as unknown;
  expect(refusal({ f: { type: "array", default: list } })?.message).toContain("deeper");
  const circular: Record<string, unknown> = { type: "object" };
  circular["default"] = circular;
  expect(problemsOf(circular)).toHaveLength(1);
  for (const value of [Number.NaN, Infinity, undefined, 1n, Symbol("x"), () => 1]) {
    expect(problemsOf({ type: "number", maximum: value })).toHaveLength(1);
  }
});

test("the parsed definition is a copy: changing the input later changes nothing", () => {
  const input = { f: { type: "object", default: { list: [1] } } };
  const parsed = parseDefinition(input);
  input.f.default.list.push(2);
  expect(parsed).toEqual({ f: { type: "object", default: { list: [1] } } });
});

test("any JSON is either accepted or refused as schema_invalid", () => {
  const nearDefinition = sample.chain(({ definition }) => nearMiss([definition as Record<string, unknown>]));
  const typed = fc.dictionary(
    fc.string(),
    fc.record({ type: fc.constantFrom("string", "object", "array"), pattern: fc.string(), items: json }),
  );
  fc.assert(
    fc.property(fc.oneof(json, nearDefinition, typed), (input) => {
      const told = refusal(input);
      expect(told === undefined || told.problems.length > 0).toBe(true);
    }),
    { numRuns: 3000 },
  );
});

test("a well-made definition is accepted, and parsing it again changes nothing", () => {
  fc.assert(
    fc.property(sample, ({ definition }) => {
      const parsed = parseDefinition(definition);
      expect(parsed).toEqual(definition);
      expect(JSON.stringify(parseDefinition(parsed))).toBe(JSON.stringify(parsed));
    }),
    { numRuns: 1000 },
  );
});
