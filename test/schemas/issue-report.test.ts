import * as fc from "fast-check";
import { expect, test } from "vitest";
import { compileSchema, type UnknownFields } from "../../src/schemas/compile-schema.ts";
import { parseDefinition } from "../../src/schemas/definition.ts";
import { MAX_ENUM_VALUES, MAX_FIELDS } from "../../src/schemas/field-definition.ts";
import {
  MAX_RECEIVED_LENGTH,
  MAX_REPORT_BYTES,
  type ValidationDetails,
} from "../../src/schemas/issue-report.ts";
import { json, nearMiss, sample } from "./definition-arbitrary.ts";

const BODY_BYTES = 65_536;
const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

function detailsOf(definition: unknown, body: unknown, mode: UnknownFields = "reject"): ValidationDetails {
  const result = compileSchema(parseDefinition(definition), mode).validate(body as Record<string, unknown>);
  return result.ok ? {} : result.details;
}

/** What the documentation promises of `details`. */
function expectBounded(definition: unknown, body: unknown, mode: UnknownFields): void {
  const bound = MAX_REPORT_BYTES + 5 * bytesOf(definition) + bytesOf(body);
  expect(bytesOf(detailsOf(definition, body, mode))).toBeLessThanOrEqual(bound);
}

function fields(count: number, field: (index: number) => object): Record<string, object> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, field(index)]));
}

const filled = (count: number, value: unknown) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, value]));

const countries = Array.from({ length: 250 }, (_, index) => `Country number ${index}`);
const largeEnum = Array.from({ length: MAX_ENUM_VALUES }, (_, index) => `${index}`.padEnd(120, "é"));

test.each<[string, unknown, unknown]>([
  [
    "items of one choice, a few bytes each",
    { f: { type: "array", items: { type: "string", enum: countries } } },
    { f: Array(30_000).fill("") },
  ],
  [
    "items of the largest choice",
    { f: { type: "array", items: { type: "string", enum: largeEnum.slice(0, 260) } } },
    { f: Array(30_000).fill("") },
  ],
  [
    "as many fields as there may be, each a choice that repeats what was sent",
    fields(MAX_FIELDS, () => ({ type: "string", enum: ["some words", "of a choice", "\u0001".repeat(30)] })),
    filled(MAX_FIELDS, "x".repeat(310)),
  ],
  ["one long value of a choice", { f: { type: "string", enum: ["a"] } }, { f: "x".repeat(65_000) }],
  [
    "undeclared names of one character",
    {},
    Object.fromEntries(Array.from({ length: 9000 }, (_, i) => [i.toString(36), 1])),
  ],
  [
    "undeclared names of a hundred",
    {},
    Object.fromEntries(Array.from({ length: 110 }, (_, i) => [String(i).padEnd(100, "\u0001"), 1])),
  ],
  ["one undeclared name as long as the body", {}, { ["é".repeat(32_000)]: 1 }],
  [
    "undeclared members of an object",
    { o: { type: "object", properties: {} } },
    { o: { ["é".repeat(32_000)]: 1 } },
  ],
  ["nothing, if all is required", fields(MAX_FIELDS, () => ({ type: "string", required: true })), {}],
])("64 KiB of the worst input bring bounded details: %s", (_what, definition, body) => {
  expect(bytesOf(body)).toBeLessThan(1.5 * BODY_BYTES);
  for (const mode of ["drop", "reject"] as const) expectBounded(definition, body, mode);
});

test("details of any body stay within 32 KiB, five times the schema and the body", () => {
  const cases = sample.chain(({ definition, bodies }) =>
    fc.tuple(
      fc.constant(definition),
      fc.oneof(nearMiss(bodies), fc.dictionary(fc.string(), json)),
      fc.constantFrom<UnknownFields>("drop", "keep", "reject"),
    ),
  );
  fc.assert(
    fc.property(cases, ([definition, body, mode]) => expectBounded(definition, body, mode)),
    { numRuns: 1000 },
  );
});

test("every field of the schema that failed has its entry, however full the report is", () => {
  const definition = {
    list: { type: "array", items: { type: "string", enum: countries } },
    ...fields(100, () => ({ type: "number", required: true })),
  };
  const details = detailsOf(definition, { list: Array(5000).fill("x"), unknown: 1 });
  expect(Object.keys(details)).toEqual(Object.keys(definition));
  expect(details["list"]?.issues.length).toBeGreaterThan(1);
  for (const [name, { issues }] of Object.entries(details).slice(1))
    expect([name, issues.length]).toEqual([name, 1]);
});

test("a long value and a long undeclared name are told by their beginnings", () => {
  const long = "🙂".repeat(5000);
  const details = detailsOf(
    { f: { type: "string", enum: ["a"] }, g: { type: "object", properties: {} } },
    { f: long, g: { [long]: 1 }, [long]: 1 },
  );
  expect(details["f"]?.issues[0]).toMatchObject({ received: `${"🙂".repeat(MAX_RECEIVED_LENGTH / 2)}…` });
  expect(details["g"]?.issues[0]).toMatchObject({ keys: [`${"🙂".repeat(50)}…`] });
  expect(details[`${"🙂".repeat(50)}…`]?.issues[0]).toMatchObject({
    code: "unrecognized_keys",
    path: [`${"🙂".repeat(50)}…`],
  });
  const short = "x".repeat(MAX_RECEIVED_LENGTH);
  expect(detailsOf({ f: { type: "string", enum: ["a"] } }, { f: short })["f"]?.issues[0]).toMatchObject({
    received: short,
  });
});
