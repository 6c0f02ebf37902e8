import * as fc from "fast-check";
import { expect, test } from "vitest";
import {
  compileSchema,
  type UnknownFields,
  type ValidationResult,
} from "../../src/schemas/compile-schema.ts";
import { parseDefinition } from "../../src/schemas/definition.ts";
import { exampleSchema } from "../support/example-schema.ts";
import { json, nearMiss, sample } from "./definition-arbitrary.ts";

const MODES: readonly UnknownFields[] = ["set-aside", "drop", "keep", "reject"];

function validate(
  definition: unknown,
  body: unknown,
  unknownFields: UnknownFields = "drop",
): ValidationResult {
  return compileSchema(parseDefinition(definition), unknownFields).validate(body as Record<string, unknown>);
}

function stored(result: ValidationResult): unknown {
  expect(result).toMatchObject({ ok: true });
  return "data" in result ? result.data : undefined;
}

/** Each issue of the failing fields as "path: code message", in order. */
function issuesOf(result: ValidationResult): string[] {
  const details = "details" in result ? result.details : {};
  return Object.values(details).flatMap(({ issues }) =>
    issues.map(({ path, code, message }) => `${path.join("/")}: ${code} ${message}`),
  );
}

test("the dashboard's example schema asks for a name and an e-mail address and takes a message", () => {
  expect(parseDefinition(exampleSchema)).toEqual(exampleSchema);
  expect(stored(validate(exampleSchema, { name: "Ann", email: "ann@example.com", other: 1 }))).toEqual({
    name: "Ann",
    email: "ann@example.com",
  });
  expect(validate(exampleSchema, { email: "ann" })).toEqual({
    ok: false,
    details: {
      name: {
        issues: [
          {
            code: "invalid_type",
            expected: "string",
            received: "undefined",
            path: ["name"],
            message: "name is required",
          },
        ],
        name: "ZodError",
      },
      email: {
        issues: [
          {
            code: "invalid_string",
            validation: "email",
            path: ["email"],
            message: "email must be an e-mail address",
          },
        ],
        name: "ZodError",
      },
    },
  });
});

test("one text is told everything that is wrong with it", () => {
  const field = { type: "string", minLength: 9, format: "email", pattern: "^[a-z@]+$" };
  expect(issuesOf(validate({ f: field }, { f: "X1" }))).toEqual([
    "f: too_small f must have at least 9 characters",
    "f: invalid_string f must be an e-mail address",
    "f: invalid_string f does not have the expected form",
  ]);
});

test("every kind of issue has a sentence for the person who filled in the form", () => {
  const definition = {
    age: { type: "number", minimum: 18 },
    tags: { type: "array", maxItems: 1, items: { type: "string", maxLength: 1 } },
    colour: { type: "string", enum: ["red", "green"] },
    plan: { type: "string", enum: ["free"] },
    terms: { type: "boolean", enum: [true] },
    home: { type: "object", properties: { city: { type: "string", required: true } } },
    site: { type: "string", format: "url" },
    note: { type: "string" },
  };
  const body = {
    age: 17,
    tags: ["aa", "b"],
    colour: "blue",
    plan: 1,
    terms: false,
    home: { street: 1 },
    site: "example.com",
    note: null,
    fax: 1,
  };
  expect(issuesOf(validate(definition, body, "reject"))).toEqual([
    "age: too_small age must be at least 18",
    "tags: too_big tags must have at most 1 item",
    "tags/0: too_big tags.0 must have at most 1 character",
    "colour: invalid_enum_value colour must be one of: red, green",
    "plan: invalid_type plan must be one of 'free', not a number",
    "terms: invalid_enum_value terms must be one of: true",
    "home/city: invalid_type home.city is required",
    "home: unrecognized_keys home has members that are not known: street",
    "site: invalid_string site must be a web address that starts with http:// or https://",
    "note: invalid_type note must be text, not null",
    "fax: unrecognized_keys fax is not a field of this form",
  ]);
});

test("a field with a default is never missing, required or not, and each submission gets its own copy", () => {
  const definition = {
    source: { type: "string", required: true, default: "web" },
    tags: { type: "array", default: [{ a: 1 }] },
    home: {
      type: "object",
      default: {},
      properties: { country: { type: "string", default: "DE" } },
    },
  };
  const schema = compileSchema(parseDefinition(definition), "drop");
  const first = stored(schema.validate({})) as { tags: unknown[] };
  expect(first).toEqual({ source: "web", tags: [{ a: 1 }], home: { country: "DE" } });
  first.tags.push(2);
  expect(stored(schema.validate({}))).toEqual({ source: "web", tags: [{ a: 1 }], home: { country: "DE" } });
  expect(issuesOf(schema.validate({ source: null }))).toHaveLength(1);
});

test("an optional field that is absent stays absent, a null is a wrong type", () => {
  expect(stored(validate({ a: { type: "string" } }, {}))).toEqual({});
  for (const type of ["string", "number", "boolean", "object", "array"]) {
    expect(validate({ a: { type } }, { a: null })).toMatchObject({
      details: { a: { issues: [{ code: "invalid_type", expected: type, received: "null" }] } },
    });
  }
});

test("undeclared members are dropped, kept after the declared ones, or each rejected, nested ones too", () => {
  const definition = {
    b: { type: "object", properties: { x: { type: "number" } } },
    a: { type: "string" },
  };
  const body = { other: [1], a: "1", b: { y: 2, x: 1 }, more: null };
  expect(JSON.stringify(stored(validate(definition, body, "drop")))).toBe('{"b":{"x":1},"a":"1"}');
  expect(JSON.stringify(stored(validate(definition, body, "keep")))).toBe(
    '{"b":{"x":1,"y":2},"a":"1","other":[1],"more":null}',
  );
  expect(validate(definition, body, "reject")).toMatchObject({
    ok: false,
    details: {
      b: { issues: [{ code: "unrecognized_keys", keys: ["y"], path: ["b"] }] },
      other: { issues: [{ code: "unrecognized_keys", keys: ["other"], path: ["other"] }], name: "ZodError" },
      more: { issues: [{ code: "unrecognized_keys", keys: ["more"], path: ["more"] }] },
    },
  });
});

test("an object without properties and an array without items take anything, whatever becomes of undeclared members", () => {
  const body = { o: { a: { b: [null] } }, l: [1, "x", { y: null }] };
  for (const mode of MODES) {
    expect(stored(validate({ o: { type: "object" }, l: { type: "array" } }, body, mode))).toEqual(body);
  }
});

test("a boolean enum takes its values only", () => {
  const definition = { terms: { type: "boolean", required: true, enum: [true] } };
  expect(stored(validate(definition, { terms: true }))).toEqual({ terms: true });
  expect(validate(definition, { terms: false })).toMatchObject({
    details: { terms: { issues: [{ code: "invalid_enum_value", received: false, options: [true] }] } },
  });
  expect(validate(definition, { terms: "true" })).toMatchObject({
    details: { terms: { issues: [{ code: "invalid_type", expected: "true", received: "string" }] } },
  });
});

test("a field may have the name of what every object inherits", () => {
  const names = ["constructor", "toString", "valueOf", "hasOwnProperty", "then"];
  const definition = Object.fromEntries(names.map((name) => [name, { type: "string", required: true }]));
  expect(issuesOf(validate(definition, {}))).toEqual(
    names.map((name) => `${name}: invalid_type ${name} is required`),
  );
  const body = Object.fromEntries(names.map((name) => [name, "x"]));
  expect(stored(validate(definition, body))).toEqual(body);
  expect(issuesOf(validate({}, body, "reject"))).toHaveLength(names.length);
  expect(stored(validate({}, body, "keep"))).toEqual(body);
});

test("__proto__ is never a field, at any depth, and pollutes nothing", () => {
  const text =
    '{"__proto__":{"p":1},"o":{"__proto__":{"p":1},"l":[{"__proto__":1,"x":1}]},"d":{"__proto__":2}}';
  const definition = { o: { type: "object" }, d: { type: "object", properties: {} } };
  for (const mode of MODES) {
    const data = stored(validate(definition, JSON.parse(text), mode)) as Record<string, object>;
    expect(JSON.stringify(data)).toBe('{"o":{"l":[{"x":1}]},"d":{}}');
    expect(Object.getPrototypeOf(data)).toBe(Object.prototype);
    expect(Object.getPrototypeOf(data["o"])).toBe(Object.prototype);
  }
  expect(stored(validate({}, JSON.parse(text), "keep"))).toEqual({ o: { l: [{ x: 1 }] }, d: {} });
  expect(({} as Record<string, unknown>)["p"]).toBeUndefined();
});

test("what is stored shares nothing with the body and the body is left as it was", () => {
  const body = { o: { a: [1] }, k: { b: 2 } };
  const before = structuredClone(body);
  const data = stored(validate({ o: { type: "object" } }, body, "keep")) as typeof body;
  data.o.a.push(2);
  data.k.b = 3;
  expect(body).toEqual(before);
});

test("lengths count UTF-16 units", () => {
  const definition = { f: { type: "string", minLength: 2, maxLength: 2 } };
  expect(validate(definition, { f: "🙂" }).ok).toBe(true);
  expect(validate(definition, { f: "é" }).ok).toBe(false);
});

test("a pattern matches anywhere unless it is anchored", () => {
  expect(validate({ f: { type: "string", pattern: "[0-9]{4}" } }, { f: "in 2026 again" }).ok).toBe(true);
  expect(validate({ f: { type: "string", pattern: "^[0-9]{4}$" } }, { f: "in 2026 again" }).ok).toBe(false);
  expect(validate({ f: { type: "string", pattern: "^[0-9]{4}$" } }, { f: "2026\n" }).ok).toBe(false);
});

test("data made after a definition always passes", () => {
  fc.assert(
    fc.property(sample, fc.constantFrom(...MODES), ({ definition, bodies }, mode) => {
      const schema = compileSchema(parseDefinition(definition), mode);
      for (const body of bodies) expect(schema.validate(body)).toMatchObject({ ok: true });
    }),
    { numRuns: 1500 },
  );
});

test("validating any JSON object throws nothing, and what it stores passes again unchanged", () => {
  const cases = sample.chain(({ definition, bodies }) =>
    fc.tuple(
      fc.constant(definition),
      fc.oneof(nearMiss(bodies), fc.dictionary(fc.string(), json)),
      fc.constantFrom(...MODES),
    ),
  );
  fc.assert(
    fc.property(cases, ([definition, body, mode]) => {
      const schema = compileSchema(definition, mode);
      const result = schema.validate(body);
      const again = result.ok ? schema.validate(result.data) : result;
      // What is set aside is not among the data.
      expect(again).toEqual(result.ok ? { ...result, setAside: null } : result);
    }),
    { numRuns: 2000 },
  );
});
