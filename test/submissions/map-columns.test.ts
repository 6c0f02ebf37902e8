import { expect, test } from "vitest";
import type { SchemaDefinition } from "../../src/schemas/definition.ts";
import { mapColumns } from "../../src/submissions/import/map-columns.ts";

const definition: SchemaDefinition = {
  email: { type: "string", format: "email" },
  first_name: { type: "string" },
  day: { type: "string", label: "Tag der Abholung" },
};

/** What becomes of each column: a field, or nothing. */
function mapped(...names: string[]): unknown {
  const { fields, unmapped } = mapColumns(names, { definition, format: "csv", map: [] });
  return [Object.fromEntries(fields.map(({ index, field }) => [names[index], field])), unmapped];
}

test("a column becomes the field whose name or label has its letters and digits", () => {
  expect(mapped("created_at", "E-Mail", "First name", "Tag-der-Abholung:", "!")).toEqual([
    { "E-Mail": "email", "First name": "first_name", "Tag-der-Abholung:": "day" },
    ["!"],
  ]);
});

test("a column with a field's own name comes before one that is like it, wherever it stands", () => {
  expect(mapped("E-Mail", "email")).toEqual([{ email: "email" }, ["E-Mail"]]);
});

test("a column that is like two fields becomes neither", () => {
  const two: SchemaDefinition = { "e-mail": { type: "string" }, email: { type: "string" } };
  const { fields, unmapped } = mapColumns(["E Mail"], { definition: two, format: "csv", map: [] });
  expect([fields, unmapped]).toEqual([[], ["E Mail"]]);
});
