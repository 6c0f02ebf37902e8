import type { UnknownFields } from "../../schemas/compile-schema.ts";
import type { SchemaDefinition } from "../../schemas/definition.ts";
import type { ArrayField, FieldDefinition } from "../../schemas/field-definition.ts";
import {
  askedFields,
  emptyBoxOf,
  isAnswer,
  isGroup,
  isLongText,
  isNeeded,
  isScalar,
  leastRows,
  rowsOf,
} from "../../schemas/form-inputs.ts";
import { htmlPattern } from "../../schemas/html-pattern.ts";
import { visitorLabel } from "../../schemas/field-label.ts";
import { DEFAULT_ACCEPT } from "../../schemas/file-types.ts";
import { fileHint } from "../../schemas/file-hint.ts";
import type { FileBounds } from "../../schemas/posted-file.ts";
import type { ValidationDetails } from "../../schemas/issue-report.ts";
import { fieldPath, type FormEntry } from "../../submissions/receive/coerce-form.ts";
import { LANGUAGE_MEMBER } from "../../languages/language.ts";
import type { Wording } from "../../languages/wording.ts";
import { ELAPSED_MEMBER } from "../../spam/spam-post.ts";
import type { PageChallenge } from "./page-challenge.ts";
import { REDIRECT_MEMBER } from "./form-addresses.ts";
import { type FormSpot, spotOf } from "./form-spot.ts";
import { NO_ROWS, pathInRows, readRows, rowAt, type Rows } from "./form-rows.ts";

/** A field of the schema as a page shows it, with the visitor's input. */
export interface PageField {
  readonly name: string;
  /** The field's label, or its name as people read it. */
  readonly label: string;
  /** The visitor's values; at most one unless the field is a list. */
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
  /** The options of a choice; for files, the types that are accepted. */
  readonly options: readonly string[];
  /** Sentences that say what is wrong with the input. */
  readonly problems: readonly string[];
  /** What a browser checks before it sends the form; absent if only the server checks. */
  readonly rules?: FieldRules;
  /** The group that the input belongs to; absent if it belongs to none. */
  readonly group?: FieldGroup;
  /** The value that a checkbox sends while it is not ticked; null if it sends nothing, as browsers do by themselves. */
  readonly emptyBox: string | null;
  /** A sentence about what may be chosen; absent if the input needs none. */
  readonly hint?: string;
}

/** A group, or one item of a list of groups. */
export interface FieldGroup {
  /** The name that the names of its inputs begin with. */
  readonly name: string;
  readonly label: string;
  /** Whether the page marks the group as optional as a whole. */
  readonly isMarkedOptional: boolean;
}

export interface FieldRules {
  readonly isRequired: boolean;
  readonly minLength: number | null;
  readonly maxLength: number | null;
  /** In the syntax of HTML's `pattern` attribute. */
  readonly pattern: string | null;
  /** Whether the page marks the input as optional. */
  readonly isMarkedOptional: boolean;
}

/** The inputs of a form as a page shows them. */
export interface PageForm {
  /** Each field of the schema at most once. */
  readonly fields: readonly PageField[];
  /** Inputs without a declaration that still change what is stored, unchanged. */
  readonly others: readonly FormEntry[];
  /** Control members and honeypots: sent again, but not shown. */
  readonly hidden: readonly FormEntry[];
  /** Sentences about problems that belong to no field. */
  readonly problems: readonly string[];
  /** Whether the visitor has to choose the files again, because a page cannot keep them. Absent if not. */
  readonly hasLostFiles?: boolean;
  /** What the page does for the form's challenge before it is sent; absent or null if nothing. */
  readonly challenge?: PageChallenge | null;
}

/** What a page has to know about an endpoint to show its fields. */
export interface AskedForm {
  readonly definition: SchemaDefinition;
  readonly unknownFields: UnknownFields;
  readonly honeypots: readonly string[];
  /** Whether every field is shown, as on the form's own page; else only fields that were sent or are wrong are shown. */
  readonly isWhole: boolean;
  readonly fileBounds: FileBounds;
}

export const NOTHING_ASKED: PageForm = { fields: [], others: [], hidden: [], problems: [] };

/** The largest number of problems that are shown for one field, and for members without an input. */
const MAX_PROBLEMS = 3;
/** The length, in UTF-16 units, from which a text is shown in a larger input; so is a text with line breaks. */
const AREA_LENGTH = 80;

/**
 * The form as a page shows it again: the fields that the visitor filled in, in the order in which they came, then the fields that are wrong
 * because they are missing. If the form is shown whole, all fields come in the schema's order. If a name repeats, its last value counts,
 * unless it is a list's. Inputs that do not change what is stored are left out.
 *
 * @param details the problems of a validation error, in the visitor's language; empty for any other error.
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
  // A page cannot keep chosen files, so it asks for them again.
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

/** Every field of a form without input, with the rules that a browser can check. */
export function blankForm(asked: Omit<AskedForm, "isWhole">, wording: Wording): PageForm {
  const fields = new Map<string, AskedField>();
  askForAll(fields, asked.definition, NO_ROWS);
  // A box that is "yes" by default is shown ticked, or nobody could say "no". In a group that may stay empty it is not, because the tick
  // would count as an answer for the group.
  const ticked = [...fields.values()]
    .filter(({ field }) => field.type === "boolean" && field.default === true)
    .filter(({ path }) => isAsked(path, asked.definition))
    .map(({ name }): FormEntry => [name, "true"]);
  return pageForm(ticked, { ...asked, isWhole: true }, {}, wording);
}

/** Adds every field that has an input. A group without declared members and a list of lists have none. */
function askForAll(fields: Map<string, AskedField>, definition: SchemaDefinition, rows: Rows): void {
  for (const [name, field] of Object.entries(askedFields(definition)))
    for (const spot of inputsOf({ path: [name], field }, rows))
      if (hasInput(spot.field)) askedAt(fields, spot);
}

function hasInput(field: FieldDefinition): boolean {
  return isScalar(field) || (field.type === "array" && isScalar(field.items));
}

/** @param isAskedFor false for a field in a group, or in an item of a list, that may stay empty as a whole */
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

/** For each group, and each item of a list of groups, around a field: whether it has to be filled in. The outermost comes first. */
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
    // Whether a list is needed is decided by its rows.
    return list !== undefined || field?.required === true;
  });
}

function isAsked(path: readonly string[], definition: SchemaDefinition): boolean {
  return needsAround(path, definition).every(Boolean);
}

/**
 * Adds each problem to its input. Returns the problems that have no input, or several.
 *
 * @param unknownSent the message for all undeclared names. A sender can make any number of them, so it does not repeat them.
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
    // An item of a list of groups has no input of its own; its members have.
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

/** The problems of a form without its inputs, for a page that cannot repeat the input. */
export function withoutInputs({ fields, problems }: PageForm): PageForm {
  return {
    ...NOTHING_ASKED,
    problems: [...fields.flatMap((field) => field.problems), ...problems],
  };
}

/** Whether the page shows inputs that can be sent again. */
export function isRepeated({ fields, others }: PageForm): boolean {
  return fields.length > 0 || others.length > 0;
}

/** Whether the form has an input for files. */
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
 * The inputs of a field: a group with declared members has one for each member, and a list of such groups has them for each row.
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

/** Adds a value to a field. An empty input counts as absent. */
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
  // The label above a group is not repeated before each of its inputs.
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
