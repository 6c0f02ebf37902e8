import { Ajv2020 } from "ajv/dist/2020.js";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { compileSchema, type UnknownFields } from "../../src/schemas/compile-schema.ts";
import type { SchemaDefinition } from "../../src/schemas/definition.ts";
import type { FieldDefinition } from "../../src/schemas/field-definition.ts";
import { jsonSchemaOf } from "../../src/schemas/json-schema.ts";
import { portablePattern } from "../../src/schemas/portable-pattern.ts";
import { nearMiss, sample } from "./definition-arbitrary.ts";

/** Counts lengths as the server does, and takes formats as the notes that they are. */
function validatorOf(fields: SchemaDefinition, unknownFields: UnknownFields): (body: unknown) => boolean {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, unicode: false, logger: false });
  return ajv.compile(jsonSchemaOf({ name: "Form", version: 3, fields, unknownFields }));
}

/** Whether JSON Schema can say all of it. */
function isSaid(field: FieldDefinition): boolean {
  switch (field.type) {
    case "string":
      return (
        field.format === undefined && (field.pattern === undefined || portablePattern(field.pattern) !== null)
      );
    case "object":
      return Object.values(field.properties ?? {}).every(isSaid);
    case "array":
      return field.items === undefined || isSaid(field.items);
    case "file":
    case "number":
    case "boolean":
    default:
      return true;
  }
}

const cases = sample.chain(({ definition, bodies }) =>
  fc.tuple(
    fc.constant(definition),
    nearMiss(bodies),
    fc.constantFrom<UnknownFields>("set-aside", "drop", "keep", "reject"),
  ),
);

test("JSON Schema of any form takes what the form takes, and refuses what it refuses for a rule that can be said", () => {
  let refused = 0;
  fc.assert(
    fc.property(cases, ([definition, made, unknownFields]) => {
      // What steers a post never comes to the schema.
      const isField = ([name]: [string, unknown]) => !name.startsWith("_") || Object.hasOwn(definition, name);
      const body = Object.fromEntries(Object.entries(made).filter(isField));
      const { ok } = compileSchema(definition, unknownFields).validate(body);
      const theirs = validatorOf(definition, unknownFields)(body);
      if (ok) expect(theirs).toBe(true);
      else if (Object.values(definition).every(isSaid)) {
        refused += 1;
        expect(theirs).toBe(false);
      }
    }),
    { numRuns: 200 },
  );
  expect(refused).toBeGreaterThan(10);
});

test("the whole is readable: title, version, what is required, what cannot be said", () => {
  const fields: SchemaDefinition = {
    email: { type: "string", required: true, format: "email", maxLength: 80, description: "Yours" },
    site: { type: "string", format: "url", pattern: "(?i)example" },
    topic: { type: "string", required: true, enum: ["sales", "support"], default: "support" },
    tags: { type: "array", maxItems: 5, items: { type: "string", pattern: "^[a-z0-9-]+$" } },
  };
  expect(jsonSchemaOf({ name: "Contact", version: 7, fields, unknownFields: "reject" })).toEqual({
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $comment: "Version 7 of the schema",
    title: "Contact",
    type: "object",
    properties: {
      email: { type: "string", maxLength: 80, format: "email", description: "Yours" },
      site: {
        type: "string",
        format: "uri",
        pattern: "^\\s*[Hh][Tt][Tt][Pp][Ss]?:",
        $comment: "RE2 pattern: (?i)example",
      },
      topic: { type: "string", enum: ["sales", "support"], default: "support" },
      tags: { type: "array", items: { type: "string", pattern: "^[a-z0-9-]+$" }, maxItems: 5 },
    },
    required: ["email"],
    additionalProperties: false,
    patternProperties: { "^_": true },
  });
});
