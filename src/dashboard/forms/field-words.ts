import { shorten } from "../../foundation/shorten.ts";
import { readLines, readText } from "../kit/typed-text.ts";
import { ENTRIES } from "./field-row.ts";
import { type FieldKind, inputsOf, KIND_LABELS, kindOfRow } from "./field-kinds.ts";
import type { FieldRow } from "./schema-words.ts";

/** The largest number of choices, types and members that are named. The others are counted. */
const MAX_NAMED = 4;
const MAX_NAME_LENGTH = 40;

/** A field's rules in one sentence, like `Short text, at most 100 characters`. Rules for experts are only counted. */
export function rulesInWords(row: FieldRow): string {
  const kind = kindOfRow(row);
  const further = hasFurther(row, kind) ? ", with further rules" : "";
  return `${WORDS[kind](row)}${further}`;
}

const plain = (kind: FieldKind) => (): string => KIND_LABELS[kind];

const WORDS: Readonly<Record<FieldKind, (row: FieldRow) => string>> = {
  text: (row) => `Short text${lengthOf(row)}`,
  area: (row) => `Long text${lengthOf(row)}`,
  email: () => "E-mail address",
  phone: () => "Telephone number",
  url: plain("url"),
  date: plain("date"),
  number: ({ minimum, maximum }) => `Number${range(minimum, maximum)}`,
  choice: (row) => `One of ${choicesOf(row)}`,
  choices: (row) => `Any of ${choicesOf(row)}${itemsOf(row, "choice", "choices")}`,
  answer: plain("answer"),
  consent: () => "Consent: has to be ticked",
  file: fileWords,
  group: ({ members = "", properties = "" }) =>
    properties.trim() === "" && members.trim() !== ""
      ? `Group of ${named(readLines(members).map(readText), "fields")}`
      : "Group of fields",
  list: (row) => {
    const entry = ENTRIES.find(({ value }) => value === (row.entries ?? "text"));
    const of =
      entry === undefined || entry.value === "any" || row.items ? "" : `: ${entry.label.toLowerCase()} each`;
    return `List${of}${itemsOf(row, "entry", "entries")}`;
  },
};

function lengthOf({ minLength, maxLength }: FieldRow): string {
  const words = bounds(minLength, maxLength);
  return words === "" ? "" : `, ${words} characters`;
}

function itemsOf({ minItems, maxItems }: FieldRow, one: string, many: string): string {
  const words = bounds(minItems, maxItems);
  if (words === "") return "";
  return `, ${words} ${(maxItems?.trim() || minItems?.trim()) === "1" ? one : many}`;
}

function bounds(least = "", most = ""): string {
  const parts = [least.trim() && `at least ${shown(least)}`, most.trim() && `at most ${shown(most)}`];
  return parts.filter((part) => part !== "").join(" and ");
}

function range(least = "", most = ""): string {
  if (least.trim() && most.trim()) return ` from ${shown(least)} to ${shown(most)}`;
  const words = bounds(least, most);
  return words === "" ? "" : `, ${words}`;
}

/** A number as `5,000`. A text that is not a number stays as it is. */
function shown(typed: string): string {
  const text = typed.trim().slice(0, MAX_NAME_LENGTH);
  return /^\d{4,15}$/.test(text) ? Number(text).toLocaleString("en-GB") : text;
}

function choicesOf(row: FieldRow): string {
  const choices = readLines(row.enum ?? "").map(readText);
  return choices.length === 0 ? "several choices" : named(choices, "choices");
}

/** The first names, and the number of the others. */
function named(names: readonly string[], many: string): string {
  const first = names.slice(0, MAX_NAMED).map((name) => shorten(name, MAX_NAME_LENGTH));
  const rest = names.length - first.length;
  return rest === 0 ? first.join(", ") : `${first.join(", ")} and ${rest} more ${many}`;
}

function fileWords({ accept = "", megabytes = "", maxBytes = "", maxFiles = "" }: FieldRow): string {
  const kinds = readLines(accept);
  const size = maxBytes.trim() ? `${shown(maxBytes)} bytes` : megabytes.trim() && `${shown(megabytes)} MB`;
  const count = maxFiles.trim();
  const most = count !== "" && count !== "1" ? `at most ${shown(count)} files` : "";
  const bound = size === "" ? most : most === "" ? `at most ${size}` : `${most} of ${size} each`;
  return `File${kinds.length === 0 ? "" : `: ${named(kinds, "kinds")}`}${bound === "" ? "" : `, ${bound}`}`;
}

/** The rules that the sentence does not describe. */
const FURTHER: ReadonlySet<string> = new Set(["pattern", "items", "properties"]);

function hasFurther(row: FieldRow, kind: FieldKind): boolean {
  const isFormatted = ["email", "phone", "url", "date", "answer", "number"].includes(kind);
  return inputsOf(kind).some(
    (input) =>
      (FURTHER.has(input) || (isFormatted && ["enum", "minLength", "maxLength"].includes(input))) &&
      (row[input] ?? "").trim() !== "",
  );
}
