import { expect, test } from "vitest";
import {
  checkDraft,
  draftOf,
  editDraft,
  readDraft,
  type SchemaDraft,
} from "../../src/dashboard/forms/schema-draft.ts";
import { FIELD_KINDS } from "../../src/dashboard/forms/field-kinds.ts";
import { rulesInWords } from "../../src/dashboard/forms/field-words.ts";
import { builder } from "../../src/dashboard/forms/schema-editor.ts";
import { NO_PROBLEMS } from "../../src/dashboard/kit/field.ts";
import { parseDefinition, type SchemaDefinition } from "../../src/schemas/definition.ts";
import { exampleSchema } from "../support/example-schema.ts";
import { formOf } from "../support/page.ts";

/** The draft after a browser showed the editor and sent it back. */
function sentBack(draft: SchemaDraft): SchemaDraft {
  const preview = { language: null, fileBounds: { maxFileBytes: 1, maxFiles: 1 } };
  const markup = `<form action="/">${String(builder({ draft, preview, problems: NO_PROBLEMS, path: "/" }, {}))}</form>`;
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
      "f.0.label",
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
  expect(problems["f.1.minLength"]).toBe('Least length of “a” must be a whole number from 0 up, not "many".');
  expect(problems["f.4.properties"]).toContain(
    "Fields in it, as JSON of “c”: city.type must be one of string, number",
  );
});

test("rules that contradict each other are named as the form names them", () => {
  const checked = checkDraft(typed([{ name: "a", type: "string", minLength: "9", maxLength: "3" }]));
  expect(checked.definition === null && Object.fromEntries(checked.problems)).toEqual({
    "f.0.minLength": "Least length of “a” must not be greater than the greatest length; 9 is greater than 3.",
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
  expect(names("add-date")).toEqual(["ax", "b", "c", ""]);
  expect(names("move-0-2")).toEqual(["b", "c", "ax"]);
  expect(names("move-2-99")).toEqual(["ax", "b", "c"]);
  expect(names("up-2")).toEqual(["ax", "c", "b"]);
  expect(names("down-0")).toEqual(["b", "ax", "c"]);
  expect(names("remove-1")).toEqual(["ax", "c"]);
  for (const nonsense of [
    "up-0",
    "down-2",
    "remove-9",
    "up--1",
    "retype",
    "",
    "toString",
    "add",
    "add-x",
    "move-1",
    "move-9-0",
    "up-1-0",
  ])
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

/** What each kind makes of a label alone, or of what it cannot do without. */
const KINDS: readonly (readonly [row: Record<string, string>, definition: Record<string, unknown>])[] = [
  [
    { kind: "text", maxLength: "100" },
    { type: "string", maxLength: 100 },
  ],
  [{ kind: "area" }, { type: "string", maxLength: 5000 }],
  [
    { kind: "email", required: "on" },
    { type: "string", format: "email", required: true },
  ],
  [{ kind: "phone" }, { type: "string", format: "phone" }],
  [{ kind: "url" }, { type: "string", format: "url" }],
  [
    { kind: "number", minimum: "1", maximum: "60" },
    { type: "number", minimum: 1, maximum: 60 },
  ],
  [{ kind: "date" }, { type: "string", format: "date" }],
  [
    { kind: "choice", enum: "Plum\r\nLemon" },
    { type: "string", enum: ["Plum", "Lemon"] },
  ],
  [
    { kind: "choices", enum: "Plum\nLemon", maxItems: "2" },
    { type: "array", items: { type: "string", enum: ["Plum", "Lemon"] }, maxItems: 2 },
  ],
  [{ kind: "answer" }, { type: "boolean" }],
  [{ kind: "consent" }, { type: "boolean", required: true, enum: [true] }],
  [
    { kind: "file", accept: "pictures\r\n.docx", megabytes: "5", maxFiles: "2" },
    { type: "file", accept: ["image/*", ".docx"], maxBytes: 5_242_880, maxFiles: 2 },
  ],
  [
    { kind: "group", members: "street\ncity" },
    { type: "object", properties: { street: TEXT, city: TEXT } },
  ],
  [
    { kind: "list", entries: "email" },
    { type: "array", items: { type: "string", format: "email" } },
  ],
];

test.for(KINDS.map(([row, definition]) => [row["kind"], row, definition] as const))(
  "a field of the kind %s is the schema's language, and is shown as that kind again",
  ([, row, definition]) => {
    const checked = checkDraft(typed([{ label: "Your answer", ...row }]));
    const expected = { your_answer: { label: "Your answer", ...definition } };
    expect(checked).toEqual({ definition: expected });
    const { draft } = { draft: draftOf(parseDefinition(expected)) };
    expect(draft.view === "form" && draft.rows[0]?.kind).toBe(row["kind"]);
    expect(checkDraft(sentBack(draft))).toEqual({ definition: expected });
  },
);

test("a name is made of the label: plain letters, and none twice", () => {
  const names = (labels: readonly string[]): string[] => {
    const { definition } = checkDraft(typed(labels.map((label) => ({ label, kind: "text" }))));
    return Object.keys(definition ?? {});
  };
  expect(names(["Day of collection", "Größe & Füllung", "день", "день", "_gotcha", "__proto__"])).toEqual([
    "day_of_collection",
    "grosse_fullung",
    "field",
    "field_2",
    "gotcha",
    "proto",
  ]);
  expect(names(["x".repeat(100)])).toEqual(["x".repeat(40)]);
});

test("a choice without choices, and a text of the wrong length for its kind, are told in words", () => {
  const checked = checkDraft(
    typed([
      { label: "Cake", kind: "choice", enum: " \n" },
      { label: "Day", kind: "choices" },
      { label: "Name", kind: "text", maxLength: "900" },
      { label: "Wishes", kind: "area", maxLength: "20" },
    ]),
  );
  expect(checked.definition === null && Object.fromEntries(checked.problems)).toEqual({
    "f.0.enum": "Write the choices of “Cake”, one a line.",
    "f.1.enum": "Write the choices of “Day”, one a line.",
    "f.2.maxLength": "“Name” is a short text, which has at most 200 characters; for more, choose Long text.",
    "f.3.maxLength":
      "“Wishes” is a long text, which may have more than 200 characters; for less, choose Short text.",
  });
});

test("a row says its rules in words, and nothing of the schema's language", () => {
  const words = (row: Record<string, string>): string => rulesInWords(row);
  expect(words({ kind: "text", maxLength: "100" })).toBe("Short text, at most 100 characters");
  expect(words({ kind: "area", minLength: "20", maxLength: "5000" })).toBe(
    "Long text, at least 20 and at most 5,000 characters",
  );
  expect(words({ kind: "number", minimum: "1", maximum: "60" })).toBe("Number from 1 to 60");
  expect(words({ kind: "choice", enum: "A\nB\nC\nD\nE\nF" })).toBe("One of A, B, C, D and 2 more choices");
  expect(words({ kind: "file", accept: "PDF\nPictures", megabytes: "5", maxFiles: "2" })).toBe(
    "File: PDF, Pictures, at most 2 files of 5 MB each",
  );
  expect(words({ kind: "text", pattern: "^a$" })).toBe("Short text, with further rules");
  // A choice that is too long for the row ends with an ellipsis, and within no character.
  expect(words({ kind: "choice", enum: `S\n${"x".repeat(38)}🍞 and more` })).toBe(
    `One of S, ${"x".repeat(38)}…`,
  );
  for (const kind of FIELD_KINDS)
    expect(words({ kind })).not.toMatch(/string|object|array|boolean|enum|regex|RE2|schema/i);
});

test("a page of an earlier version, which knows no kinds, still says what it said", () => {
  const checked = checkDraft(
    typed([
      { name: "a", type: "number", maximum: "9" },
      { name: "b", type: "string", format: "email" },
      { name: "c", type: "string", enum: "x\ny" },
      { name: "d", type: "boolean" },
    ]),
  );
  expect(checked).toEqual({
    definition: {
      a: { type: "number", maximum: 9 },
      b: { type: "string", format: "email" },
      c: { type: "string", enum: ["x", "y"] },
      d: { type: "boolean" },
    },
  });
});
