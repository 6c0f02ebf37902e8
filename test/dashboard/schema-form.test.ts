import { expect, test } from "vitest";
import {
  checkDraft,
  draftOf,
  editDraft,
  readDraft,
  type SchemaDraft,
} from "../../src/dashboard/forms/schema-draft.ts";
import { schemaEditor } from "../../src/dashboard/forms/schema-editor.ts";
import { NO_PROBLEMS } from "../../src/dashboard/kit/field.ts";
import { parseDefinition, type SchemaDefinition } from "../../src/schemas/definition.ts";
import { exampleSchema } from "../../src/schemas/example-schema.ts";
import { formOf } from "../support/page.ts";

/** The draft after a browser showed the editor and sent it back. */
function sentBack(draft: SchemaDraft): SchemaDraft {
  const markup = `<form action="/">${String(schemaEditor({ draft, problems: NO_PROBLEMS, path: "/" }))}</form>`;
  return readDraft(formOf(markup, "/").values);
}

const TEXT = { type: "string" } as const;

/** Everything that the language allows, with texts that an input cannot hold as they are. */
const WHOLE_LANGUAGE: Readonly<Record<string, SchemaDefinition>> = {
  example: exampleSchema,
  nothing: {},
  text: {
    a: {
      type: "string",
      required: false,
      description: "two\nlines",
      minLength: 0,
      maxLength: 9,
      pattern: "^a\\d+$| x ",
      default: "a1",
    },
    b: { type: "string", format: "url", description: "" },
    c: {
      type: "string",
      enum: ["one", "", " two ", "three\nfour", '"five"', "[6]", "\u202eevil", "<b>"],
      default: "",
    },
    d: { type: "string", description: "\r\u0000\ud800", default: '"quoted"' },
  },
  names: {
    'a "b" c': { type: "string" },
    " outer ": { type: "boolean" },
    "a.b": { type: "number" },
    a: { type: "number" },
    "10": { type: "string" },
    hasOwnProperty: TEXT,
    "<script>": { type: "string", description: "</textarea><script>" },
    valueOf: TEXT,
  },
  numbers: {
    a: { type: "number", minimum: -1.5e-7, maximum: 1e21, enum: [0, 0.1, 1e20], default: 0.1 },
    b: { type: "number", required: true },
  },
  answers: { a: { type: "boolean", enum: [true], default: true }, b: { type: "boolean", default: false } },
  groups: {
    a: {
      type: "object",
      properties: { b: { type: "object", properties: { c: { type: "string", required: true } } } },
    },
    d: { type: "object", properties: {}, default: {} },
    e: { type: "object", default: { any: [1, null, "x"] } },
    f: {
      type: "array",
      items: { type: "string", enum: ["x", "y"] },
      minItems: 0,
      maxItems: 2,
      default: ["x"],
    },
    g: { type: "array", default: [{ deep: true }] },
  },
};

test.for(Object.entries(WHOLE_LANGUAGE))(
  "a schema of %s comes back from the form as it was",
  ([, definition]) => {
    const checked = checkDraft(sentBack(draftOf(parseDefinition(definition))));
    expect(checked).toEqual({ definition });
  },
);

test.for(Object.entries(WHOLE_LANGUAGE))(
  "switching a schema of %s to JSON and back keeps it",
  ([, definition]) => {
    const asJson = editDraft(sentBack(draftOf(parseDefinition(definition))), "json");
    expect(asJson.problems.size).toBe(0);
    expect(asJson.draft.view).toBe("json");
    const asForm = editDraft(sentBack(asJson.draft), "form");
    expect(asForm.draft.view).toBe("form");
    expect(checkDraft(asForm.draft)).toEqual({ definition });
  },
);

const typed = (rows: readonly Record<string, string>[]): SchemaDraft => ({ view: "form", rows });

test("each problem is told at the input that it is about", () => {
  const checked = checkDraft(
    typed([
      { name: "", type: "string" },
      { name: "a", type: "string", minLength: "many", maxLength: "3", pattern: "(" },
      { name: "a", type: "number" },
      { name: "b", type: "number", minimum: "5", maximum: "4", default: "x" },
      { name: "c", type: "object", properties: '{"city": {"type": "text"}}', default: "{" },
      { name: "__proto__", type: "boolean", enum: "perhaps" },
    ]),
  );
  expect(checked.definition).toBeNull();
  const problems = checked.definition === null ? Object.fromEntries(checked.problems) : {};
  expect(Object.keys(problems).toSorted()).toEqual(
    [
      "f.0.name",
      "f.1.minLength",
      "f.1.pattern",
      "f.2.name",
      "f.3.default",
      "f.3.minimum",
      "f.4.default",
      "f.4.properties",
      "f.5.name",
    ].toSorted(),
  );
  expect(problems["f.1.minLength"]).toBe('Least length of “a” must be a whole number from 0 up, not "many"');
  expect(problems["f.4.properties"]).toContain("Members of “c”: city.type must be one of string, number");
});

test("rules that contradict each other are named as the form names them", () => {
  const checked = checkDraft(typed([{ name: "a", type: "string", minLength: "9", maxLength: "3" }]));
  expect(checked.definition === null && Object.fromEntries(checked.problems)).toEqual({
    "f.0.minLength": "Least length of “a” must not be greater than the greatest length; 9 is greater than 3",
  });
});

test("the buttons add, remove and move fields and keep all that was typed, right or wrong", () => {
  const start = typed([
    { name: "a", type: "string", minLength: "x" },
    { name: "b", type: "number" },
    { name: "c", type: "boolean" },
  ]);
  const names = (action: string) => {
    const { draft } = editDraft(start, action);
    return draft.view === "form" ? draft.rows.map((row) => `${row.name ?? ""}${row.minLength ?? ""}`) : [];
  };
  expect(names("add")).toEqual(["ax", "b", "c", ""]);
  expect(names("up-2")).toEqual(["ax", "c", "b"]);
  expect(names("down-0")).toEqual(["b", "ax", "c"]);
  expect(names("remove-1")).toEqual(["ax", "c"]);
  for (const nonsense of ["up-0", "down-2", "remove-9", "up--1", "retype", "", "toString"])
    expect(names(nonsense)).toEqual(["ax", "b", "c"]);
});

test("what was typed for another kind of field stays with the form", () => {
  const draft = sentBack(typed([{ name: "a", type: "number", minLength: "3", maximum: "9" }]));
  expect(draft).toMatchObject({ rows: [{ minLength: "3", maximum: "9" }] });
  expect(checkDraft(draft)).toEqual({ definition: { a: { type: "number", maximum: 9 } } });
});

test("JSON with mistakes stays JSON until they are corrected", () => {
  for (const json of ["{", "[]", "null", '{"a":{"type":"text"}}', '{"a":{"type":"string","minlength":1}}']) {
    const { draft, problems } = editDraft({ view: "json", json }, "form");
    expect(draft).toEqual({ view: "json", json });
    expect([...problems.keys()]).toEqual(["schema"]);
  }
});

test("a form with more rows than a schema may have fields is read no further than its mistake shows", () => {
  const form = new URLSearchParams(Array.from({ length: 3000 }, (_, row) => [`f.${row}.name`, `n${row}`]));
  const draft = readDraft(form);
  expect(draft.view === "form" && draft.rows.length).toBe(201);
  const checked = checkDraft(draft);
  expect(checked.definition === null && [...checked.problems.keys()]).toEqual(["f.200.name"]);
});
