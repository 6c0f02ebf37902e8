import type { UnknownFields } from "../schemas/compile-schema.ts";
import type { SchemaDefinition } from "../schemas/definition.ts";
import type { ArrayField, FieldDefinition } from "../schemas/field-definition.ts";
import {
  emptyBoxOf,
  isAnswer,
  isGroup,
  isLongText,
  isNeeded,
  isScalar,
  leastRows,
  rowsOf,
} from "../schemas/form-inputs.ts";
import { htmlPattern } from "../schemas/html-pattern.ts";
import { visitorLabel } from "../schemas/field-label.ts";
import { DEFAULT_ACCEPT } from "../schemas/file-types.ts";
import { fileHint } from "../schemas/file-hint.ts";
import type { FileBounds } from "../schemas/posted-file.ts";
import type { ValidationDetails } from "../schemas/issue-report.ts";
import { fieldPath, type FormEntry } from "../submissions/receive/coerce-form.ts";
import { LANGUAGE_MEMBER } from "../languages/language.ts";
import type { Wording } from "../languages/wording.ts";
import { ELAPSED_MEMBER } from "../spam/spam-post.ts";
import type { PageChallenge } from "./page-challenge.ts";
import { REDIRECT_MEMBER } from "./form-addresses.ts";
import { type FormSpot, spotOf } from "./form-spot.ts";
import { NO_ROWS, pathInRows, readRows, rowAt, type Rows } from "./form-rows.ts";

/** One of the schema's fields, shown again with the visitor's input. */
export interface PageField {
  readonly name: string;
  /** The field's label, or its name as people read it. */
  readonly label: string;
  /** One at most, except for a list. */
  readonly values: readonly string[];
  readonly kind:
    | "text"
    | "area"
    | "email"
    | "url"
    | "date"
    | "phone"
    | "number"
    | "checkbox"
    | "choice"
    | "choices"
    | "file"
    | "files";
  /** Of a choice; of files, the types that are taken. */
  readonly options: readonly string[];
  /** What is wrong, in sentences. */
  readonly problems: readonly string[];
  /** What a browser checks before it sends; absent if the server alone does. */
  readonly rules?: FieldRules;
  /** What the input stands in; absent for one that stands alone. */
  readonly group?: FieldGroup;
  /** What a box sends while it is empty; null if nothing, as browsers do by themselves. */
  readonly emptyBox: string | null;
  /** What may be chosen, in a sentence; absent if the input says it. */
  readonly hint?: string;
}

/** A group, or one item of a list of groups. */
export interface FieldGroup {
  /** As an input of it would begin. */
  readonly name: string;
  readonly label: string;
  /** Whether a word says that it may stay empty as a whole. */
  readonly isMarkedOptional: boolean;
}

export interface FieldRules {
  readonly isRequired: boolean;
  readonly minLength: number | null;
  readonly maxLength: number | null;
  /** As HTML writes it. */
  readonly pattern: string | null;
  /** Whether a word says that it may stay empty. */
  readonly isMarkedOptional: boolean;
}

/** The inputs that the error page shows again. */
export interface PageForm {
  /** Each field of the schema once at most. */
  readonly fields: readonly PageField[];
  /** Inputs of undeclared names that change what is stored, as they came. */
  readonly others: readonly FormEntry[];
  /** Control members and honeypots: sent again, but not shown. */
  readonly hidden: readonly FormEntry[];
  /** Problems that belong to no field, in sentences. */
  readonly problems: readonly string[];
  /** Whether files that the visitor chose have to be chosen again: a page cannot keep them. Absent if not. */
  readonly hasLostFiles?: boolean;
  /** What the page does before it is sent; absent if nothing. */
  readonly challenge?: PageChallenge | null;
}

/** The fields of an endpoint. */
export interface AskedForm {
  readonly definition: SchemaDefinition;
  readonly unknownFields: UnknownFields;
  readonly honeypots: readonly string[];
  /** Whether every field is shown, as on the form's own page; else those that were sent or are wrong. */
  readonly isWhole: boolean;
  readonly fileBounds: FileBounds;
}

export const NOTHING_ASKED: PageForm = { fields: [], others: [], hidden: [], problems: [] };

/** The largest number of problems shown of one field, and of members without an input. */
const MAX_PROBLEMS = 3;
/** Texts from this length on, and those with line breaks, are shown in a larger input. */
const AREA_LENGTH = 80;

/**
 * The fields that the visitor filled in, in the order they came, then those that are wrong because they are missing; if the form is shown
 * whole, all in the schema's order. If a name
 * repeats, its last value counts, unless it is a list's. Inputs that change nothing of what is stored are left out.
 *
 * @param details of the validation error, in the visitor's language; empty for any other error.
 */
export function pageForm(
  entries: readonly FormEntry[],
  asked: AskedForm,
  details: ValidationDetails,
  wording: Wording,
): PageForm {
  const fields = new Map<string, AskedField>();
  const others: FormEntry[] = [];
  const hidden = new Map<string, string>();
  const rows = asked.isWhole ? readRows(entries, asked.definition) : NO_ROWS;
  if (asked.isWhole) askForAll(fields, asked.definition, rows);
  for (const [name, value] of entries) {
    const path = pathInRows(fieldPath(name, asked.definition), asked.definition, rows);
    const spot = spotOf(path, asked);
    if (typeof spot !== "string") fill(askedAt(fields, spot), value);
    else if (asked.honeypots.includes(name) || STEERING.has(name)) hidden.set(name, value);
    else if (spot === "beside") others.push([name, value]);
  }
  // A page cannot keep what was chosen.
  for (const [name, field] of Object.entries(asked.definition))
    if (field.type === "file") askedAt(fields, { path: [name], field });
  const problems = askForWrong(fields, asked, details, wording.text("unknownSent"));
  return {
    fields: [...fields.values()].map((field) => toPageField(field, asked, wording)),
    others,
    hidden: [...hidden].filter(([, value]) => value !== ""),
    problems: problems.slice(0, MAX_PROBLEMS),
  };
}

/** Every field, empty, with what a browser can check. */
export function blankForm(asked: Omit<AskedForm, "isWhole">, wording: Wording): PageForm {
  const fields = new Map<string, AskedField>();
  askForAll(fields, asked.definition, NO_ROWS);
  // What is "yes" by itself is shown so, or nobody could say "no"; in a group that may stay empty it would fill in the group.
  const ticked = [...fields.values()]
    .filter(({ field }) => field.type === "boolean" && field.default === true)
    .filter(({ path }) => isAsked(path, asked.definition))
    .map(({ name }): FormEntry => [name, "true"]);
  return pageForm(ticked, { ...asked, isWhole: true }, {}, wording);
}

/** A group without declared members, and a list of lists, have no input. */
function askForAll(fields: Map<string, AskedField>, definition: SchemaDefinition, rows: Rows): void {
  for (const [name, field] of Object.entries(definition))
    for (const spot of inputsOf({ path: [name], field }, rows))
      if (hasInput(spot.field)) askedAt(fields, spot);
}

function hasInput(field: FieldDefinition): boolean {
  return isScalar(field) || (field.type === "array" && isScalar(field.items));
}

/** @param isAskedFor false in a group, or an item of a list, that may stay empty as a whole */
function rulesOf(field: FieldDefinition, isAskedFor: boolean, isMarkedOptional: boolean): FieldRules {
  const isText = field.type === "string";
  return {
    isRequired: isAskedFor && isNeeded(field) && !isAnswer(field),
    minLength: isText ? (field.minLength ?? null) : null,
    maxLength: isText ? (field.maxLength ?? null) : null,
    pattern: isText ? htmlPattern(field.pattern) : null,
    isMarkedOptional,
  };
}

/** Whether each group, and each item of a list of groups, around a field has to be filled in; the outermost comes first. */
function needsAround(path: readonly string[], definition: SchemaDefinition): boolean[] {
  let fields: SchemaDefinition = definition;
  let list: ArrayField | undefined;
  return path.slice(0, -1).map((name) => {
    if (list !== undefined) {
      const isLeast = Number(name) < leastRows(list);
      list = undefined;
      return isLeast;
    }
    const field: FieldDefinition | undefined = fields[name];
    list = field?.type === "array" ? field : undefined;
    const group = list === undefined ? field : list.items;
    fields = isGroup(group) ? group.properties : {};
    // Of a list, its rows say it.
    return list !== undefined || field?.required === true;
  });
}

function isAsked(path: readonly string[], definition: SchemaDefinition): boolean {
  return needsAround(path, definition).every(Boolean);
}

/**
 * Shows each problem at its input; returns the problems that have no input, or several.
 *
 * @param unknownSent stands for all undeclared names: a sender can make any number of them, so messages do not repeat them.
 */
function askForWrong(
  fields: Map<string, AskedField>,
  asked: AskedForm,
  details: ValidationDetails,
  unknownSent: string,
): readonly string[] {
  const others = new Set<string>();
  for (const { path, code, message } of Object.values(details).flatMap(({ issues }) => issues)) {
    const spot = code === "unrecognized_keys" ? "nowhere" : spotOf(path, asked);
    const spots = typeof spot === "string" ? [] : inputsOf(spot, asked.isWhole ? NO_ROWS : null);
    // An item of a list of groups is shown with its members, or not at all.
    const inputs = spots
      .filter(({ field }) => !asked.isWhole || hasInput(field))
      .map((input) => askedAt(fields, input));
    const [only] = inputs;
    if (only === undefined || inputs.length > 1)
      others.add(code === "unrecognized_keys" ? unknownSent : message);
    else if (only.problems.length < MAX_PROBLEMS) only.problems.push(message);
  }
  return [...others];
}

/** The same problems, if the input itself cannot be repeated. */
export function withoutInputs({ fields, problems }: PageForm): PageForm {
  return {
    ...NOTHING_ASKED,
    problems: [...fields.flatMap((field) => field.problems), ...problems],
  };
}

/** Whether there is a form to be sent again. */
export function isRepeated({ fields, others }: PageForm): boolean {
  return fields.length > 0 || others.length > 0;
}

/** Whether the visitor can choose files. */
export function asksForFiles({ fields }: PageForm): boolean {
  return fields.some(({ kind }) => kind === "file" || kind === "files");
}

const STEERING: ReadonlySet<string> = new Set([REDIRECT_MEMBER, ELAPSED_MEMBER, LANGUAGE_MEMBER]);

interface AskedField extends FormSpot {
  readonly name: string;
  readonly values: string[];
  readonly problems: string[];
}

/**
 * The inputs of a field: an object with declared members has one for each of them, and a list of such objects has them for each row.
 *
 * @param rows null if lists of groups have no inputs
 */
function inputsOf({ path, field }: FormSpot, rows: Rows | null): FormSpot[] {
  if (rows !== null && field.type === "array" && isGroup(field.items)) {
    const { items } = field;
    return Array.from({ length: rowsOf(field, rows.get(nameOf(path))?.length ?? 0) }, (_, row) =>
      inputsOf({ path: [...path, String(row)], field: items }, null),
    ).flat();
  }
  if (!isGroup(field)) return [{ path, field }];
  return Object.entries(field.properties).flatMap(([name, member]) =>
    inputsOf({ path: [...path, name], field: member }, rows),
  );
}

function askedAt(fields: Map<string, AskedField>, spot: FormSpot): AskedField {
  const name = nameOf(spot.path);
  const asked = fields.get(name) ?? { ...spot, name, values: [], problems: [] };
  fields.set(name, asked);
  return asked;
}

function nameOf([root = "", ...inner]: readonly string[]): string {
  return root + inner.map((name) => `[${name}]`).join("");
}

/** An empty input is absent. */
function fill({ field, values }: AskedField, value: string): void {
  if (value === "" || field.type === "file") return;
  if (field.type !== "array") values.length = 0;
  values.push(value);
}

function toPageField(
  { name, path, field, values, problems }: AskedField,
  { definition, isWhole, fileBounds }: AskedForm,
  wording: Wording,
): PageField {
  const shown = {
    name,
    label: visitorLabel(definition, path),
    values,
    ...inputKind(field, values[0] ?? ""),
    problems,
    emptyBox: emptyBoxOf(field, path),
    ...(field.type === "file" && { hint: fileHint(field, fileBounds, wording) }),
  };
  if (!isWhole) return shown;
  const row = rowAt(path, definition);
  const depth = row === null ? path.length - 2 : row.depth;
  const needs = needsAround(path, definition);
  const isNeededInside = isNeeded(field) && needs.slice(depth + 1).every(Boolean);
  const whole = {
    ...shown,
    kind: shown.kind === "text" && isLong(path, field) ? ("area" as const) : shown.kind,
    rules: rulesOf(field, needs.every(Boolean), !isNeededInside && field.type !== "boolean"),
  };
  if (path.length === 1) return whole;
  // What stands above a group is not said again before each of its inputs.
  const members = row === null ? { [path.at(-1) ?? ""]: field } : row.members;
  const around = path.slice(0, depth + 1);
  const group = {
    name: nameOf(around),
    label: visitorLabel(definition, around),
    isMarkedOptional: !needs.slice(0, depth + 1).every(Boolean),
  };
  return { ...whole, label: visitorLabel(members, path.slice(depth + 1)), group };
}

function isLong(path: readonly string[], field: FieldDefinition): boolean {
  return field.type === "string" && field.format === undefined && isLongText(path.at(-1) ?? "", field);
}

function inputKind(field: FieldDefinition, value: string): Pick<PageField, "kind" | "options"> {
  if (field.type === "file") {
    const { accept = DEFAULT_ACCEPT, maxFiles = 1 } = field;
    return { kind: maxFiles > 1 ? "files" : "file", options: accept };
  }
  if (field.type === "boolean") return { kind: "checkbox", options: [] };
  const { items } = field as { items?: FieldDefinition };
  const item = field.type === "array" ? (items ?? field) : field;
  if ("enum" in item && item.enum !== undefined) {
    return { kind: field.type === "array" ? "choices" : "choice", options: item.enum.map(String) };
  }
  if (item.type === "number") return { kind: "number", options: [] };
  if (value.length >= AREA_LENGTH || /[\r\n]/.test(value)) return { kind: "area", options: [] };
  return { kind: item.type === "string" ? (item.format ?? "text") : "text", options: [] };
}
