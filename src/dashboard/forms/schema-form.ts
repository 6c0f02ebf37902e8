import { FormsvcError } from "../../foundation/errors.ts";
import { parseDefinition, type SchemaDefinition } from "../../schemas/definition.ts";
import { type DefinitionProblem, memberPath } from "../../schemas/definition-problems.ts";
import {
  FIELD_TYPES,
  type FieldDefinition,
  type FieldType,
  PROPERTIES,
} from "../../schemas/field-definition.ts";
import { ROW_LABELS, type RowInput } from "./schema-words.ts";
import type { Problems } from "../kit/field.ts";
import { readLines, readNumber, readText, showLines, showText } from "../kit/typed-text.ts";

/** One field of a schema as a form holds it: each input's text as it was typed. An input that is absent is empty. */
export type FieldRow = Readonly<Partial<Record<RowInput, string>>>;

/** A definition that passed the check, or what is wrong with it, by the names of the inputs. */
export type CheckedDefinition =
  | { readonly definition: SchemaDefinition }
  | { readonly definition: null; readonly problems: Problems };

export function inputName(row: number, input: RowInput): string {
  return `f.${row}.${input}`;
}

/** Every definition that the language allows can be shown; members of groups and items of lists are shown as JSON. */
export function rowsOf(definition: SchemaDefinition): FieldRow[] {
  return Object.entries(definition).map(([name, field]) => rowOf(name, field));
}

function rowOf(name: string, field: FieldDefinition): FieldRow {
  const shown = Object.entries(field).map(([property, value]) => [property, showValue(property, value)]);
  const { required, ...rules } = Object.fromEntries(shown) as Record<string, string>;
  const row = { name: showText(name), ...rules };
  if (required === undefined) return row;
  return required === "true" ? { ...row, required: "on" } : { ...row, optional: "stated" };
}

function showValue(property: string, value: unknown): string {
  if (property === "enum" || property === "accept") return showLines(value as unknown[]);
  if (typeof value === "string") return showText(value);
  return typeof value === "object" ? JSON.stringify(value, null, 2) : JSON.stringify(value);
}

/** What the rows say as a definition that nobody checked yet, and what cannot be said at all. */
export function assemble(rows: readonly FieldRow[]): {
  readonly fields: Record<string, unknown>;
  readonly problems: Map<string, string>;
} {
  const problems = new Map<string, string>();
  const entries = new Map<string, unknown>();
  for (const [index, row] of rows.entries()) {
    const name = readText(row.name ?? "");
    if (name === "") problems.set(inputName(index, "name"), `Give field ${index + 1} a name.`);
    else if (entries.has(name))
      problems.set(inputName(index, "name"), `Another field is named “${name}” too; choose another name.`);
    else entries.set(name, readRow(row, index, problems));
  }
  return { fields: Object.fromEntries(entries), problems };
}

function readRow(row: FieldRow, index: number, problems: Map<string, string>): Record<string, unknown> {
  const type = FIELD_TYPES.find((known) => known === row.type) ?? "string";
  const field: Record<string, unknown> = { type };
  if (row.required === "on") field["required"] = true;
  else if (row.optional === "stated") field["required"] = false;
  for (const property of PROPERTIES[type]) {
    const typed = property === "type" || property === "required" ? "" : (row[property] ?? "");
    if (typed.trim() === "") continue;
    const value = readValue(property, type, typed);
    if (value instanceof SyntaxError)
      problems.set(inputName(index, property), notJson(labelOf(row, property), value));
    else field[property] = value;
  }
  return field;
}

function readValue(property: RowInput, type: FieldType, typed: string): unknown {
  if (property === "accept") return readLines(typed).map((line) => line.trim());
  if (property === "enum") return readLines(typed).map((line) => readScalar(type, line));
  if (property === "default")
    return type === "object" || type === "array" ? parse(typed) : readScalar(type, typed);
  if (property === "properties" || property === "items") return parse(typed);
  return TEXTS.has(property) ? readText(typed) : readNumber(typed);
}

const TEXTS: ReadonlySet<RowInput> = new Set(["label", "description", "format", "pattern"]);

function readScalar(type: FieldType, typed: string): unknown {
  if (type === "number") return readNumber(typed);
  if (type !== "boolean") return readText(typed);
  const text = typed.trim();
  return text === "true" || (text === "false" ? false : text);
}

function parse(typed: string): unknown {
  try {
    return JSON.parse(typed) as unknown;
  } catch (error) {
    return error;
  }
}

function notJson(label: string, { message }: SyntaxError): string {
  return `${label} must be JSON: ${message}`;
}

function labelOf(row: FieldRow, input: RowInput): string {
  return `${ROW_LABELS[input]} of “${readText(row.name ?? "")}”`;
}

/** The same check as of the commands; each problem is told at the input that it is about. */
export function checkRows(rows: readonly FieldRow[]): CheckedDefinition {
  const { fields, problems } = assemble(rows);
  const { definition, found } = check(fields);
  for (const [input, text] of groupByInput(rows, found)) {
    if (!problems.has(input)) problems.set(input, text);
  }
  return definition === null || problems.size > 0 ? { definition: null, problems } : { definition };
}

/** The name of the area that holds a whole schema as JSON. */
export const JSON_INPUT = "schema";

export function checkJson(json: string): CheckedDefinition {
  const value = parse(json);
  if (value instanceof SyntaxError)
    return { definition: null, problems: new Map([[JSON_INPUT, notJson("The schema", value)]]) };
  const { definition, found } = check(value);
  if (definition !== null) return { definition };
  const lines = found.map(({ path, message }) => `${path || "The schema"} ${message}`);
  return { definition: null, problems: new Map([[JSON_INPUT, lines.join("\n")]]) };
}

interface Checked {
  /** Null if anything was found. */
  readonly definition: SchemaDefinition | null;
  readonly found: readonly DefinitionProblem[];
}

function check(input: unknown): Checked {
  try {
    return { definition: parseDefinition(input), found: [] };
  } catch (error) {
    if (!(error instanceof FormsvcError) || error.code !== "schema_invalid") throw error;
    return { definition: null, found: error.facts.details?.["problems"] as readonly DefinitionProblem[] };
  }
}

function groupByInput(rows: readonly FieldRow[], found: readonly DefinitionProblem[]): Map<string, string> {
  const grouped = new Map<string, string>();
  for (const problem of found) {
    const [input, text] = place(rows, problem);
    const before = grouped.get(input);
    grouped.set(input, before === undefined ? text : `${before}\n${text}`);
  }
  return grouped;
}

/** A path is the field's name and then a property, like `address.properties.city.maxLength`. */
function place(
  rows: readonly FieldRow[],
  { path, message }: DefinitionProblem,
): [input: string, text: string] {
  for (const [index, row] of rows.entries()) {
    const start = memberPath("", readText(row.name ?? ""));
    if (path === start) return [inputName(index, "name"), `“${readText(row.name ?? "")}” ${message}`];
    if (!path.startsWith(`${start}.`)) continue;
    const [property = "", ...inner] = path.slice(start.length + 1).split(/(?=[.[])/);
    if (!Object.hasOwn(ROW_LABELS, property)) continue;
    const input = property as RowInput;
    const within = inner.length === 0 ? "" : `: ${inner.join("").replace(/^\./, "")}`;
    return [inputName(index, input), `${labelOf(row, input)}${within} ${inLabels(message)}`];
  }
  return ["", `The schema ${path === "" ? "" : `(${path}) `}${message}`];
}

/** Two rules that contradict each other: the form has no `maxLength`, but a greatest length. */
function inLabels(message: string): string {
  return message.replace(/(?<=^must not be greater than )\w+/, (name) =>
    Object.hasOwn(ROW_LABELS, name) ? `the ${ROW_LABELS[name as RowInput].toLowerCase()}` : name,
  );
}
