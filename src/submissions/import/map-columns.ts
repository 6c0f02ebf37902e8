import { shorten } from "../../foundation/shorten.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { listNames } from "../../foundation/list-names.ts";
import type { SchemaDefinition } from "../../schemas/definition.ts";
import { unguarded } from "../export/csv.ts";
import { type ColumnRole, FORMATS, type TableFormat } from "./import-formats.ts";
import { type OwnTarget, ownTargets } from "./own-columns.ts";
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
  refuseDoubled(names);
  const { definition, format } = request;
  const chosen = readMap(request, names);
  const targets = new Targets(definition);
  // The importer's choices come before the names of columns, and these before what is only alike.
  for (const [name, target] of chosen)
    if (target !== "") targets.assign({ index: names.indexOf(name), name }, target);
  const left = names.map((name, index) => ({ index, name })).filter(({ name }) => !chosen.has(name));
  // What our own table calls its columns says exactly what they are, whatever the fields are named.
  const own = format === "csv" ? ownTargets(names, definition) : new Map<string, OwnTarget>();
  for (const column of left) {
    const target = own.get(column.name);
    if (target !== undefined) targets.assignOwn(column, target);
  }
  const named = left.filter(({ name }) => name !== "" && !own.has(name));
  assignByName(targets, named, request);
  const { fields, roles, unmapped } = targets;
  return { fields, roles, unmapped, isOwn: own.size > 0 };
}

function refuseDoubled(names: readonly string[]): void {
  const doubled = names.find((name, index) => name !== "" && names.indexOf(name) !== index);
  if (doubled === undefined) return;
  throw new FormsvcError(
    "usage",
    `the column ${quoted(doubled)} stands there twice; rename one of them in the file`,
  );
}

interface Column {
  readonly index: number;
  readonly name: string;
}

/** Collects the targets of columns. A target has one column: the first that it is assigned to. */
class Targets {
  readonly fields: { index: number; field: string }[] = [];
  readonly roles = new Map<ColumnRole, number>();
  readonly unmapped: string[] = [];
  readonly #definition: SchemaDefinition;

  constructor(definition: SchemaDefinition) {
    this.#definition = definition;
  }

  /** @param target a role or a field; a field may have the name of any role but the time's */
  assign(column: Column, target: string): void {
    if (isRole(target) && (target === "created_at" || !Object.hasOwn(this.#definition, target)))
      this.#assignRole(column, target);
    else this.#assignField(column, target);
  }

  assignOwn(column: Column, target: OwnTarget): void {
    if (target === null) this.unmapped.push(column.name);
    else if ("role" in target) this.#assignRole(column, target.role);
    else if (isField(this.#definition, target.field)) this.#assignField(column, target.field);
    else this.unmapped.push(column.name);
  }

  #assignRole({ index, name }: Column, role: ColumnRole): void {
    if (this.roles.has(role)) this.unmapped.push(name);
    else this.roles.set(role, index);
  }

  #assignField({ index, name }: Column, field: string): void {
    if (this.fields.some((each) => each.field === field)) this.unmapped.push(name);
    else this.fields.push({ index, field });
  }
}

/** Assigns columns by what they are called: first all that are called like a field or a role, then those that are only alike. */
function assignByName(targets: Targets, columns: readonly Column[], request: MappingRequest): void {
  const { definition, format } = request;
  const fieldOf = fieldFinder(definition);
  const fieldLike = likeFinder(definition);
  const { roles } = FORMATS[format];
  const alike: (readonly [column: Column, field: string])[] = [];
  for (const column of columns) {
    const { name } = column;
    const lower = name.toLowerCase();
    const role = Object.hasOwn(roles, lower) ? roles[lower] : roleOfOwn(name, format);
    const target = role === "created_at" ? role : (fieldOf(name) ?? role);
    const near = target === undefined ? fieldLike(name) : undefined;
    if (target !== undefined) targets.assign(column, target);
    else if (near !== undefined) alike.push([column, near]);
    else targets.unmapped.push(name);
  }
  for (const [column, field] of alike) targets.assign(column, field);
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
