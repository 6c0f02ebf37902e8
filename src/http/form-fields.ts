import { isJsonObject } from "../schemas/copy-json.ts";
import type { SchemaDefinition } from "../schemas/definition.ts";
import type { FieldDefinition } from "../schemas/field-definition.ts";
import { fieldPath, type FormEntry } from "../submissions/coerce-form.ts";

/** One input of the form that the error page shows again, with what the visitor had put in. */
export interface PageField {
  readonly name: string;
  /** The name as people read it. */
  readonly label: string;
  readonly value: string;
  readonly kind: "text" | "area" | "email" | "url" | "number" | "checkbox" | "choice";
  /** Of a choice. */
  readonly options: readonly string[];
  /** What is wrong, in sentences; told beside the field's first input only. */
  readonly problems: readonly string[];
}

export interface PageFields {
  readonly shown: readonly PageField[];
  /** Members that steer, and honeypots: sent again as they came. */
  readonly hidden: readonly FormEntry[];
}

/** Texts from this length on, and those with line breaks, are shown in a larger input. */
const AREA_LENGTH = 80;

/**
 * The visitor's inputs in the order they came, then an empty one for each field that is wrong because it is missing.
 *
 * @param details of the validation error; empty where something else went wrong.
 */
export function pageFields(
  entries: readonly FormEntry[],
  definition: SchemaDefinition,
  honeypots: readonly string[],
  details: Readonly<Record<string, unknown>>,
): PageFields {
  const shown: PageField[] = [];
  const hidden: FormEntry[] = [];
  const told = new Set<string>();
  const show = (name: string, value: string): void => {
    const path = fieldPath(name, definition);
    const root = path[0] ?? name;
    const problems = told.has(root) ? [] : problemsOf(details, root);
    told.add(root);
    const label = path.filter((part) => part !== "").join(" ");
    shown.push({ name, label, value, ...inputKind(fieldAt(definition, path), value), problems });
  };
  for (const [name, value] of entries) {
    const steers = name.startsWith("_") && !Object.hasOwn(definition, name);
    if (steers || honeypots.includes(name)) hidden.push([name, value]);
    else show(name, value);
  }
  for (const name of Object.keys(details)) {
    if (!told.has(name) && Object.hasOwn(definition, name)) show(name, "");
  }
  return { shown, hidden };
}

/** The messages of one field of a validation error. */
export function problemsOf(details: Readonly<Record<string, unknown>>, name: string): string[] {
  const entry = Object.hasOwn(details, name) ? details[name] : undefined;
  const issues = isJsonObject(entry) && Array.isArray(entry["issues"]) ? (entry["issues"] as unknown[]) : [];
  return issues.flatMap((issue) => (isJsonObject(issue) ? [String(issue["message"])] : []));
}

/** The definition of what an input is for; of an array its items'. */
function fieldAt(definition: SchemaDefinition, path: readonly string[]): FieldDefinition | undefined {
  const [root = "", ...inner] = path;
  let field = Object.hasOwn(definition, root) ? definition[root] : undefined;
  for (const name of inner) {
    if (field?.type === "object")
      field = Object.hasOwn(field.properties ?? {}, name) ? field.properties?.[name] : undefined;
    else if (field?.type === "array") field = field.items;
    else return undefined;
  }
  return field?.type === "array" ? field.items : field;
}

function inputKind(
  field: FieldDefinition | undefined,
  value: string,
): { readonly kind: PageField["kind"]; readonly options: readonly string[] } {
  if (field?.type === "boolean") return { kind: "checkbox", options: [] };
  if (field !== undefined && "enum" in field) return { kind: "choice", options: field.enum.map(String) };
  if (field?.type === "number") return { kind: "number", options: [] };
  if (value.length >= AREA_LENGTH || /[\r\n]/.test(value)) return { kind: "area", options: [] };
  return { kind: field?.type === "string" ? (field.format ?? "text") : "text", options: [] };
}
