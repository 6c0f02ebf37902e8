import type { FieldDefinition } from "../../schemas/field-definition.ts";
import { AREA_LENGTH, isLongText } from "../../schemas/form-inputs.ts";
import { readLines, readNumber, readText, showLines, showText } from "../kit/typed-text.ts";
import { inputsOf, kindOfField, kindOfRow, MEANINGS } from "./field-kinds.ts";
import { type FieldRow, inputName, ROW_LABELS, type RowInput } from "./schema-words.ts";

const MEGABYTE = 1_048_576;
/** The largest length of a long text if its owner chose none, in characters: some three pages. */
const LONG_TEXT_LENGTH = 5000;

/** A field as the inputs of a row. */
export function rowOf(name: string, field: FieldDefinition): FieldRow {
  const kind = kindOfField(name, field);
  const { type: _type, required, ...rules } = field;
  const row: Record<string, string> = { name: showText(name), kind };
  for (const [property, value] of Object.entries(rules)) {
    if (property === "format" || (kind === "consent" && property === "enum")) continue;
    Object.assign(row, shownProperty(kind, property, value));
  }
  if (kind === "list" && field.type === "array" && field.items === undefined) row["entries"] = "any";
  if (required === undefined || kind === "consent") return row;
  return required ? { ...row, required: "on" } : { ...row, optional: "stated" };
}

function shownProperty(kind: string, property: string, value: unknown): FieldRow {
  if (property === "items" && kind === "choices")
    return { enum: showLines((value as { readonly enum: readonly unknown[] }).enum) };
  const entry = property === "items" ? ENTRIES.find((each) => isSame(each.items, value)) : undefined;
  if (entry !== undefined) return { entries: entry.value };
  const members = property === "properties" ? memberLines(value as Members) : null;
  if (members !== null) return { members };
  if (property === "maxBytes" && (value as number) % MEGABYTE === 0)
    return { megabytes: String((value as number) / MEGABYTE) };
  return { [property]: showValue(property, value) };
}

/** The words for the file types that most forms ask for. */
const TYPE_WORDS: readonly (readonly [type: string, word: string])[] = [
  ["application/pdf", "PDF"],
  ["image/*", "Pictures"],
];

function wordOfType(type: string): string {
  return TYPE_WORDS.find(([known]) => known === type)?.[1] ?? type;
}

function typeOfWord(word: string): string {
  return TYPE_WORDS.find(([, known]) => known.toLowerCase() === word.toLowerCase())?.[0] ?? word;
}

function showValue(property: string, value: unknown): string {
  if (property === "accept") return showLines((value as string[]).map(wordOfType));
  if (property === "enum") return showLines(value as unknown[]);
  if (typeof value === "string") return showText(value);
  return typeof value === "object" ? JSON.stringify(value, null, 2) : JSON.stringify(value);
}

/** The types that an entry of a list can have without JSON. */
export const ENTRIES = [
  { value: "text", label: "A short text", items: { type: "string" } },
  { value: "number", label: "A number", items: { type: "number" } },
  { value: "email", label: "An e-mail address", items: { type: "string", format: "email" } },
  { value: "url", label: "A web address", items: { type: "string", format: "url" } },
  { value: "date", label: "A date", items: { type: "string", format: "date" } },
  { value: "phone", label: "A telephone number", items: { type: "string", format: "phone" } },
  { value: "any", label: "Anything", items: undefined },
] as const;

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

type Members = Readonly<Record<string, FieldDefinition>>;

/** One name on each line; null unless all members are short texts without further rules. */
function memberLines(members: Members): string | null {
  const names = Object.keys(members);
  const isPlain = names.every((name) => isSame(members[name], { type: "string" }) && showText(name) === name);
  return isPlain && names.length > 0 ? names.join("\n") : null;
}

/** Reads the field of a row, and adds what cannot be read to the problems. @param name the field's name */
export function readRow(row: FieldRow, { name, index, problems }: RowContext): Record<string, unknown> {
  const kind = kindOfRow(row);
  const { type, format } = MEANINGS[kind];
  const field: Record<string, unknown> = { type, ...(format !== undefined && { format }) };
  if (row.required === "on" || kind === "consent") field["required"] = true;
  else if (row.optional === "stated") field["required"] = false;
  for (const input of ["label", ...inputsOf(kind), "description"] as const) {
    const typed = row[input] ?? "";
    if (typed.trim() === "") continue;
    const said = readInput(kind, type, input, typed);
    if (said instanceof SyntaxError)
      problems.set(inputName(index, input), notJson(`${ROW_LABELS[input]} of “${calledOf(row)}”`, said));
    else Object.assign(field, said);
  }
  const wrong = finish(kind, field, name);
  if (wrong !== null) problems.set(inputName(index, wrong.input), wrong.text(calledOf(row)));
  return field;
}

interface RowContext {
  readonly name: string;
  readonly index: number;
  readonly problems: Map<string, string>;
}

/** The members that an input adds to the field. */
function readInput(
  kind: string,
  type: string,
  input: RowInput,
  typed: string,
): Record<string, unknown> | SyntaxError {
  if (kind === "choices" && input === "enum")
    return { items: { type: "string", enum: readChoices("string", typed) } };
  if (input === "entries") {
    const items = ENTRIES.find(({ value }) => value === typed)?.items;
    return items === undefined ? {} : { items };
  }
  if (input === "members")
    return {
      properties: Object.fromEntries(readLines(typed).map((name) => [readText(name), { type: "string" }])),
    };
  if (input === "megabytes") {
    const megabytes = readNumber(typed);
    return { maxBytes: typeof megabytes === "number" ? Math.round(megabytes * MEGABYTE) : megabytes };
  }
  const value = readValue(input, type, typed);
  return value instanceof SyntaxError ? value : { [input]: value };
}

function readValue(input: RowInput, type: string, typed: string): unknown {
  if (input === "accept") return readLines(typed).map(typeOfWord);
  if (input === "enum") return readChoices(type, typed);
  if (input === "default")
    return type === "object" || type === "array" ? parse(typed) : readScalar(type, typed);
  if (input === "properties" || input === "items") return parse(typed);
  return TEXTS.has(input) ? readText(typed) : readNumber(typed);
}

function readChoices(type: string, typed: string): unknown[] {
  return readLines(typed).map((line) => readScalar(type, line));
}

const TEXTS: ReadonlySet<RowInput> = new Set(["label", "description", "pattern"]);

function readScalar(type: string, typed: string): unknown {
  if (type === "number") return readNumber(typed);
  if (type !== "boolean") return readText(typed);
  const text = typed.trim();
  return text === "true" || (text === "false" ? false : text);
}

/** The JSON value of a text, or the error that says why it has none. */
export function parse(typed: string): unknown {
  try {
    return JSON.parse(typed) as unknown;
  } catch (error) {
    return error;
  }
}

export function notJson(label: string, { message }: SyntaxError): string {
  return `${label} must be JSON: ${message}`;
}

interface Wrong {
  readonly input: RowInput;
  readonly text: (called: string) => string;
}

/** Adds the rules that a kind implies. Returns the problem if the field cannot be of that kind. */
function finish(kind: string, field: Record<string, unknown>, name: string): Wrong | null {
  if (kind === "consent") field["enum"] = [true];
  if (
    (kind === "choice" && field["enum"] === undefined) ||
    (kind === "choices" && field["items"] === undefined)
  )
    return { input: "enum", text: (called) => `Write the choices of “${called}”, one a line.` };
  const { maxLength } = field as { readonly maxLength?: unknown };
  if (kind === "area" && !isLongText(name, field)) {
    if (maxLength === undefined) field["maxLength"] = LONG_TEXT_LENGTH;
    else if (typeof maxLength === "number")
      return {
        input: "maxLength",
        text: (called) =>
          `“${called}” is a long text, which may have more than ${AREA_LENGTH} characters; for less, choose Short text.`,
      };
  }
  if (kind === "text" && typeof maxLength === "number" && maxLength > AREA_LENGTH)
    return {
      input: "maxLength",
      text: (called) =>
        `“${called}” is a short text, which has at most ${AREA_LENGTH} characters; for more, choose Long text.`,
    };
  return null;
}

/** The row after its kind was changed. A length that the new kind cannot have becomes one that it can have. */
export function afterRetype(row: FieldRow): FieldRow {
  const most = readNumber(row.maxLength ?? "");
  if (kindOfRow(row) === "text" && typeof most === "number" && most > AREA_LENGTH)
    return { ...row, maxLength: String(AREA_LENGTH) };
  if (kindOfRow(row) === "area" && (most === "" || (typeof most === "number" && most <= AREA_LENGTH)))
    return { ...row, maxLength: String(LONG_TEXT_LENGTH) };
  return row;
}

/** The name by which the page calls a field that has no name yet. */
export function numberedName(index: number): string {
  return `Field ${index + 1}`;
}

/** The name by which people know the field: its label, or else its name. */
export function calledOf({ label = "", name = "" }: FieldRow): string {
  const shown = readText(label);
  return shown === "" ? readText(name) : shown;
}
