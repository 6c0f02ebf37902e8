import { shorten } from "../../foundation/shorten.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { listNames } from "../../foundation/list-names.ts";
import type { SchemaDefinition } from "../../schemas/definition.ts";
import { unguarded } from "../export/csv.ts";
import { type ColumnRole, FORMATS, type TableFormat } from "./import-formats.ts";
import { ownTargets } from "./own-columns.ts";
import { zoneInHeading } from "./own-time-heading.ts";

/** The target of each column of a table. */
export interface ColumnMap {
  /** The columns that become fields, by index. */
  readonly fields: readonly { readonly index: number; readonly field: string }[];
  /** The indexes of columns that have a role and are not fields. */
  readonly roles: ReadonlyMap<ColumnRole, number>;
  /** The names of columns that are not imported. */
  readonly unmapped: readonly string[];
  /** Whether the table is of our own kind, so that its texts are what was stored. */
  readonly isOwn: boolean;
}

export interface MappingRequest {
  readonly format: TableFormat;
  readonly definition: SchemaDefinition;
  /** Choices of the importer, each as `COLUMN=FIELD`. */
  readonly map: readonly string[];
}

/**
 * Chooses the target of each column: by `map`, else by the name or the label of a field, or the service's name for a role. Upper and lower
 * case are ignored. What is found by neither becomes the only field whose name or label has the same letters and digits.
 *
 * @throws usage for a column that occurs twice or does not exist, a field that does not exist, and two columns for one target
 */
export function mapColumns(headings: readonly string[], request: MappingRequest): ColumnMap {
  const names = headings.map((heading) => heading.trim());
  const doubled = names.find((name, index) => name !== "" && names.indexOf(name) !== index);
  if (doubled !== undefined)
    throw new FormsvcError(
      "usage",
      `the column ${quoted(doubled)} stands there twice; rename one of them in the file`,
    );
  const given = readMap(request, names);
  const fieldOf = fieldFinder(request.definition);
  const fieldLike = likeFinder(request.definition);
  const { roles: known } = FORMATS[request.format];
  const fields: { index: number; field: string }[] = [];
  const roles = new Map<ColumnRole, number>();
  const unmapped: string[] = [];
  const assignRole = (index: number, role: ColumnRole, column: string): void => {
    if (!roles.has(role)) roles.set(role, index);
    else unmapped.push(column);
  };
  const assignField = (index: number, field: string, column: string): void => {
    if (fields.some((each) => each.field === field)) unmapped.push(column);
    else fields.push({ index, field });
  };
  const assign = (index: number, target: string, column: string): void => {
    if (isRole(target) && (target === "created_at" || !Object.hasOwn(request.definition, target)))
      assignRole(index, target, column);
    else assignField(index, target, column);
  };
  const alike: { index: number; target: string; column: string }[] = [];
  // The importer's choices come before the names of columns, and these before what is only alike.
  for (const [column, target] of given) if (target !== "") assign(names.indexOf(column), target, column);
  // What our own table calls its columns says exactly what they are, whatever the fields are named.
  const own = request.format === "csv" ? ownTargets(names, request.definition) : new Map<string, never>();
  for (const [index, name] of names.entries()) {
    const target = given.has(name) ? undefined : own.get(name);
    if (target === undefined) continue;
    if (target === null) unmapped.push(name);
    else if ("role" in target) assignRole(index, target.role, name);
    else if (isField(request.definition, target.field)) assignField(index, target.field, name);
    else unmapped.push(name);
  }
  for (const [index, name] of names.entries()) {
    if (name === "" || given.has(name) || own.has(name)) continue;
    const lower = name.toLowerCase();
    const role = Object.hasOwn(known, lower) ? known[lower] : roleOfOwn(name, request.format);
    const target = fieldOf(name) ?? role;
    const near = target ?? fieldLike(name);
    if (near === undefined) unmapped.push(name);
    else if (target === undefined) alike.push({ index, target: near, column: name });
    else assign(index, role === "created_at" ? role : target, name);
  }
  for (const { index, target, column } of alike) assign(index, target, column);
  return { fields, roles, unmapped, isOwn: own.size > 0 };
}

function roleOfOwn(heading: string, format: TableFormat): ColumnRole | undefined {
  return format === "csv" && zoneInHeading(heading) !== null ? "created_at" : undefined;
}

/** @throws usage */
function readMap({ map, definition }: MappingRequest, names: readonly string[]): ReadonlyMap<string, string> {
  const given = new Map<string, string>();
  const targets = new Set<string>();
  for (const each of map) {
    const end = each.lastIndexOf("=");
    if (end < 1) throw new FormsvcError("usage", `expected COLUMN=FIELD, not ${quoted(each)}`);
    const [column, target] = [each.slice(0, end).trim(), each.slice(end + 1).trim()];
    if (!names.includes(column))
      throw new FormsvcError("usage", `the file has no column ${quoted(column)}; it has ${namesOf(names)}`);
    if (target !== "" && !isRole(target) && !isField(definition, target))
      throw new FormsvcError(
        "usage",
        `the form has no field ${quoted(target)} for text; it has ${namesOf(Object.keys(definition))}`,
      );
    if (given.has(column)) throw new FormsvcError("usage", `the column ${quoted(column)} is mapped twice`);
    if (target !== "" && targets.has(target))
      throw new FormsvcError("usage", `two columns are mapped to ${quoted(target)}`);
    given.set(column, target);
    targets.add(target);
  }
  return given;
}

/** Whether a column can become this field; a file cannot come from a table. */
function isField(definition: SchemaDefinition, name: string): boolean {
  return Object.hasOwn(definition, name) && definition[name]?.type !== "file";
}

const ROLES: readonly string[] = ["id", "created_at", "ip_address", "user_agent"] satisfies ColumnRole[];

function isRole(text: string): text is ColumnRole {
  return ROLES.includes(text);
}

/** Returns a function that finds the field of a heading: by its exact name, then by its name in any case, then by its label. */
function fieldFinder(definition: SchemaDefinition): (heading: string) => string | undefined {
  const byText = new Map<string, string>();
  const fields = Object.entries(definition).filter(([name]) => isField(definition, name));
  for (const [name, field] of fields) {
    const { label } = field as { readonly label?: string };
    if (label === undefined) continue;
    // Our own exports number the headings of fields with the same label.
    let heading = label.toLowerCase();
    for (let number = 2; byText.has(heading); number += 1) heading = `${label.toLowerCase()} (${number})`;
    byText.set(heading, name);
  }
  for (const [name] of fields) byText.set(name.toLowerCase(), name);
  return (heading) => {
    // A heading of our own CSV has an apostrophe before a label or name like `=`, and `data.` before a name.
    const texts = [heading, unguarded(heading), heading.replace(/^data\./, "")];
    const exact = texts.find((each) => isField(definition, each));
    return exact ?? texts.map((each) => byText.get(each.toLowerCase())).find((found) => found !== undefined);
  };
}

/** Returns a function that finds the only field whose name or label has the letters and digits of a heading: `email` for `E-Mail`. */
function likeFinder(definition: SchemaDefinition): (heading: string) => string | undefined {
  const byLetters = new Map<string, string | null>();
  for (const [name, field] of Object.entries(definition)) {
    if (!isField(definition, name)) continue;
    const { label = name } = field as { readonly label?: string };
    for (const letters of new Set([lettersOf(name), lettersOf(label)]))
      byLetters.set(letters, byLetters.has(letters) ? null : name);
  }
  return (heading) => {
    const letters = lettersOf(heading);
    return letters === "" ? undefined : (byLetters.get(letters) ?? undefined);
  };
}

function lettersOf(text: string): string {
  return text.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, "");
}

const MAX_NAMED = 20;
const MAX_SHOWN = 100;

function quoted(text: string): string {
  return JSON.stringify(shorten(text, MAX_SHOWN));
}

/** The first of these names, in quotes. */
export function namesOf(names: readonly string[]): string {
  return listNames(
    names.filter((name) => name !== ""),
    MAX_NAMED,
    quoted,
  );
}
