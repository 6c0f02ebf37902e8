import { expect, test } from "vitest";
import type { SchemaDefinition } from "../../src/schemas/definition.ts";
import { createZonedClock } from "../../src/foundation/zoned-time.ts";
import { columnsOf, type Look } from "../../src/submissions/export/export-columns.ts";
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

/** The field of each column of a table that the export writes for a form with these fields. */
function reread(fields: SchemaDefinition, look: Pick<Look, "order" | "hasLabels">): unknown {
  const labels = new Map(
    Object.entries(fields).flatMap(([name, { label }]) => (label === undefined ? [] : [[name, label]])),
  );
  const exported = { names: new Set(Object.keys(fields)), hasRest: true, hasSetAside: true, labels };
  const clock = createZonedClock("Europe/Berlin");
  const columns = columnsOf(exported, { ...look, clock, formName: () => "Contact" });
  const headings = columns.map(({ heading }) => heading);
  const map = mapColumns(headings, { definition: fields, format: "csv", map: [] });
  expect(map.roles.get("created_at")).toBe(columns.findIndex(({ isTime }) => isTime));
  expect(map.roles.get("id")).toBe(headings.findIndex((each) => each.toLowerCase() === "id"));
  const found = new Map(map.fields.map(({ index, field }) => [index, field]));
  return headings.map((_, index) => found.get(index)).filter((field) => field !== undefined);
}

test.each([
  { order: "people", hasLabels: false },
  { order: "technical", hasLabels: true },
  { order: "technical", hasLabels: false },
] as const)(
  "each column of our own table ($order, labels: $hasLabels) comes back into its own field, whatever labels and names are alike",
  (look) => {
    const fields: SchemaDefinition = {
      kind: { type: "string", label: "Form" },
      form: { type: "string", label: "name" },
      name: { type: "string", label: "Spam score" },
      notes: { type: "string", label: "Anmerkungen" },
      first: { type: "string", label: "data.second" },
      second: { type: "string" },
      spam_class: { type: "string", label: "notes" },
      state: { type: "string", label: "State" },
    };
    expect(reread(fields, look)).toEqual(Object.keys(fields));
  },
);

test("the id of a submission in our own table does not become a field with the name id", () => {
  const fields: SchemaDefinition = { id: { type: "string" }, user_agent: { type: "string" } };
  expect(reread(fields, { order: "technical", hasLabels: false })).toEqual(["id", "user_agent"]);
});
