import { FormsvcError } from "../../foundation/errors.ts";
import { parseDefinition, type SchemaDefinition } from "../../schemas/definition.ts";
import { type DefinitionProblem, memberPath } from "../../schemas/definition-problems.ts";
import type { Problems } from "../kit/field.ts";
import { readText } from "../kit/typed-text.ts";
import { kindOfRow } from "./field-kinds.ts";
import { nameFromLabel } from "./field-name.ts";
import { calledOf, notJson, parse, readRow, rowOf } from "./field-row.ts";
import { type FieldRow, inputName, ROW_LABELS, type RowInput } from "./schema-words.ts";

/** A definition that passed the check, or its problems by the names of the inputs. */
export type CheckedDefinition =
  | { readonly definition: SchemaDefinition }
  | { readonly definition: null; readonly problems: Problems };

/** The rows of a definition. Every valid definition can be shown: rules that have no input of their own are shown as JSON. */
export function rowsOf(definition: SchemaDefinition): FieldRow[] {
  return Object.entries(definition).map(([name, field]) => rowOf(name, field));
}

/** Makes a definition from rows, unchecked, and collects the problems of what cannot be read. */
export function assemble(rows: readonly FieldRow[]): {
  readonly fields: Record<string, unknown>;
  readonly problems: Map<string, string>;
} {
  const problems = new Map<string, string>();
  const entries = new Map<string, unknown>();
  for (const [index, { row, name }] of named(rows).entries()) {
    if (name === "")
      problems.set(inputName(index, "label"), `Give field ${index + 1} a label: what visitors read.`);
    else if (entries.has(name))
      problems.set(inputName(index, "name"), `Another field is named “${name}” too; choose another name.`);
    else entries.set(name, readRow(row, { name, index, problems }));
  }
  return { fields: Object.fromEntries(entries), problems };
}

/** Rows with names: the typed name, or else one that is derived from the label; empty if there is neither. */
function named(rows: readonly FieldRow[]): { readonly row: FieldRow; readonly name: string }[] {
  const taken = new Set(rows.map(({ name = "" }) => readText(name)));
  return rows.map((row) => {
    const [name, label] = [readText(row.name ?? ""), readText(row.label ?? "")];
    if (name !== "" || label === "") return { row, name };
    const made = nameFromLabel(label, taken);
    taken.add(made);
    return { row, name: made };
  });
}

/** Checks rows like the commands check a schema. Each problem is reported at its input. */
export function checkRows(rows: readonly FieldRow[]): CheckedDefinition {
  const { fields, problems } = assemble(rows);
  const { definition, found } = check(fields);
  for (const [input, text] of groupByInput(rows, found)) {
    if (!problems.has(input)) problems.set(input, text);
  }
  return definition === null || problems.size > 0 ? { definition: null, problems } : { definition };
}

/** The name of the text area that contains a whole schema as JSON. */
export const JSON_INPUT = "schema";

export function checkJson(json: string): CheckedDefinition {
  const value = parse(json);
  if (value instanceof SyntaxError)
    return { definition: null, problems: new Map([[JSON_INPUT, notJson("The schema", value)]]) };
  const { definition, found } = check(value);
  if (definition !== null) return { definition };
  const lines = found.map(({ path, message }) => `${path || "The schema"} ${message}.`);
  return { definition: null, problems: new Map([[JSON_INPUT, lines.join("\n")]]) };
}

interface Checked {
  /** Null if there are problems. */
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
    const [input, text] = inputOf(rows, problem);
    const before = grouped.get(input);
    grouped.set(input, before === undefined ? text : `${before}\n${text}`);
  }
  return grouped;
}

/**
 * The name of the input for a problem's path. The path is the field's name and then a property, like `address.properties.city.maxLength`.
 */
function inputOf(
  rows: readonly FieldRow[],
  { path, message }: DefinitionProblem,
): [input: string, text: string] {
  for (const [index, { row, name }] of named(rows).entries()) {
    const start = memberPath("", name);
    if (path === start) return [inputName(index, "name"), `“${calledOf(row)}” ${message}.`];
    if (!path.startsWith(`${start}.`)) continue;
    const [property = "", ...inner] = path.slice(start.length + 1).split(/(?=[.[])/);
    const input = inputFor(row, property);
    if (input === null) continue;
    const within = inner.length === 0 ? "" : `: ${inner.join("").replace(/^\./, "")}`;
    return [
      inputName(index, input),
      `${ROW_LABELS[input]} of “${calledOf(row)}”${within} ${inLabels(message)}.`,
    ];
  }
  return ["", `The schema ${path === "" ? "" : `(${path}) `}${message}.`];
}

/** The input for a property; null if there is none. */
function inputFor(row: FieldRow, property: string): RowInput | null {
  const kind = kindOfRow(row);
  if (property === "items" && kind === "choices") return "enum";
  if (property === "items" && !row.items) return "entries";
  if (property === "properties" && !row.properties) return "members";
  if (property === "maxBytes" && row.megabytes) return "megabytes";
  if (property === "type" || property === "format") return "kind";
  return Object.hasOwn(ROW_LABELS, property) ? (property as RowInput) : null;
}

/**
 * Rewrites a message about two rules that contradict each other: the form has labels like "greatest length" in place of names like
 * `maxLength`.
 */
function inLabels(message: string): string {
  return message.replace(/(?<=^must not be greater than )\w+/, (name) =>
    Object.hasOwn(ROW_LABELS, name) ? `the ${ROW_LABELS[name as RowInput].toLowerCase()}` : name,
  );
}
