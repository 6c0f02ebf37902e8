import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { MAX_SCHEMA_VERSIONS } from "../../src/endpoints/endpoint-store.ts";
import { MAX_DEFINITION_BYTES } from "../../src/schemas/check-json.ts";
import { MAX_UNKNOWN_NAMED } from "../../src/schemas/compile-field.ts";
import { wordingIn } from "../../src/languages/wording.ts";
import { compileSchema } from "../../src/schemas/compile-schema.ts";
import { parseDefinition } from "../../src/schemas/definition.ts";
import {
  FIELD_TYPES,
  MAX_DESCRIPTION_LENGTH,
  MAX_ENUM_VALUES,
  MAX_FIELD_DEPTH,
  MAX_FIELD_NAME_LENGTH,
  MAX_FIELDS,
  PROPERTIES,
} from "../../src/schemas/field-definition.ts";
import {
  MAX_ISSUES_IN_FIELD,
  MAX_RECEIVED_LENGTH,
  MAX_REPORT_BYTES,
  reword,
} from "../../src/schemas/issue-report.ts";
import { MAX_SET_ASIDE_BYTES, MAX_SET_ASIDE_NAMES } from "../../src/schemas/set-aside.ts";
import {
  MAX_PATTERN_LENGTH,
  MAX_PATTERN_COST_IN_SCHEMA,
  MAX_REFUSED_TEXT_LENGTH,
  MAX_UNBOUNDED_PATTERN_SIZE,
} from "../../src/foundation/pattern.ts";

const text = readFileSync(new URL("../../docs/schemas.md", import.meta.url), "utf8");

/** The cells of the rows of the table that has these column titles. */
function table(...titles: string[]): string[][] {
  const rows = text.split("\n").map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  const start = rows.findIndex((cells) => cells.join("|") === titles.join("|")) + 2;
  return rows.slice(
    start,
    rows.findIndex((cells, index) => index > start && cells.length === 0),
  );
}

const blocks = [...text.matchAll(/```json\n(.*?)```/gs)].map(
  (match) => JSON.parse(match[1] ?? "") as unknown,
);

test("the document's example of an error is what its schema says of its body, member for member", () => {
  const [definition, body, details] = blocks;
  const schema = compileSchema(parseDefinition(definition), "drop");
  const checked = schema.validate(body as Record<string, unknown>);
  if (checked.ok) throw new Error("the values are wrong");
  expect(reword(checked.details, wordingIn("en"), schema.definition)).toEqual(details);
});

test("the document's table of properties is the language", () => {
  const documented = table("property", "for", "meaning").map(([name = "", types = ""]) => [
    name.replaceAll("`", ""),
    types.split(" "),
  ]);
  const known = [...new Set(FIELD_TYPES.flatMap((type) => PROPERTIES[type] as readonly string[]))];
  const language = known.map((name) => [
    name,
    FIELD_TYPES.filter((type) => (PROPERTIES[type] as readonly string[]).includes(name)),
  ]);
  expect(Object.fromEntries(documented)).toEqual(Object.fromEntries(language));
});

test("the document's limits are the code's", () => {
  expect(table("limit", "value").map(([, value]) => Number(value))).toEqual([
    MAX_DEFINITION_BYTES,
    MAX_FIELDS,
    MAX_FIELD_DEPTH,
    MAX_FIELD_NAME_LENGTH,
    MAX_DESCRIPTION_LENGTH,
    MAX_ENUM_VALUES,
    MAX_PATTERN_LENGTH,
    MAX_PATTERN_COST_IN_SCHEMA,
    MAX_UNBOUNDED_PATTERN_SIZE,
    MAX_ISSUES_IN_FIELD,
    MAX_REPORT_BYTES,
    MAX_RECEIVED_LENGTH,
    MAX_UNKNOWN_NAMED,
    MAX_SET_ASIDE_NAMES,
    MAX_SET_ASIDE_BYTES,
    MAX_SCHEMA_VERSIONS,
  ]);
  expect(text).toContain(`over ${MAX_REFUSED_TEXT_LENGTH} characters`);
});
