import type { TextKey, Wording } from "../languages/wording.ts";
import type { StringFormat } from "./field-definition.ts";

/** One problem of a submitted value, in the issue format of Zod 3, except that all parts of the path are strings. */
export type FieldIssue = IssueFacts & {
  readonly message: string;
  /** The name of the field comes first; positions in arrays are decimal numbers as text. */
  readonly path: readonly string[];
};

export type IssueFacts =
  | { readonly code: "invalid_type"; readonly expected: string; readonly received: string }
  | (Bound & { readonly code: "too_small"; readonly minimum: number })
  | (Bound & { readonly code: "too_big"; readonly maximum: number })
  | { readonly code: "invalid_string"; readonly validation: StringFormat | "regex" }
  | { readonly code: "invalid_enum_value"; readonly received: unknown; readonly options: readonly unknown[] }
  | { readonly code: "unrecognized_keys"; readonly keys: readonly string[] }
  | FileIssue;

/** A refused file, or too many files. `maximum` is in bytes for `size`, and a number of files for `count`. */
type FileIssue = { readonly code: "invalid_file" } & (
  | { readonly reason: "size" | "count"; readonly maximum: number }
  | { readonly reason: "type" | "name" }
);

interface Bound {
  readonly type: "string" | "number" | "array";
  readonly inclusive: true;
  readonly exact: false;
}

/** The type of a JSON value in the words of Zod 3; `undefined` stands for a missing field. */
export function receivedType(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return Number.isNaN(value) ? "nan" : typeof value;
}

const MAX_LABEL_LENGTH = 80;
const MAX_LISTED = 10;

/** Says in a sentence what is wrong. @param nameOf returns the name of a value for the reader, by its path */
export function issueMessage(
  path: readonly string[],
  facts: IssueFacts,
  wording: Wording,
  nameOf: (path: readonly string[]) => string,
): string {
  const field = cutAfter(nameOf(path));
  switch (facts.code) {
    case "invalid_type":
      return typeMessage(field, facts, wording);
    case "too_small":
      return facts.type === "number"
        ? wording.text("minimumNumber", { field, count: facts.minimum })
        : wording.text("minimumLength", { field, amount: amountOf(facts.type, facts.minimum, wording) });
    case "too_big":
      return facts.type === "number"
        ? wording.text("maximumNumber", { field, count: facts.maximum })
        : wording.text("maximumLength", { field, amount: amountOf(facts.type, facts.maximum, wording) });
    case "invalid_string":
      return wording.text(STRING_TEXTS[facts.validation], { field });
    case "invalid_enum_value":
      return wording.text("noOption", { field, options: list(facts.options, wording) });
    case "invalid_file":
      return fileMessage(cutAfter(nameOf(path.slice(0, 1))), facts, wording);
    case "unrecognized_keys":
    default:
      return path.length === 1 && facts.keys[0] === path[0]
        ? wording.text("unknownField", { field })
        : wording.text("unknownMembers", { field, names: list(facts.keys, wording) });
  }
}

const TYPE_TEXTS: Readonly<Record<string, TextKey>> = {
  string: "typeText",
  number: "typeNumber",
  boolean: "typeBoolean",
  object: "typeObject",
  array: "typeList",
  file: "typeFile",
};

function fileMessage(field: string, facts: FileIssue, wording: Wording): string {
  switch (facts.reason) {
    case "size":
      return wording.text("fileSize", { field, size: megabytes(facts.maximum, wording) });
    case "count":
      return wording.amount("fileCount", facts.maximum, { field });
    case "type":
      return wording.text("fileType", { field });
    case "name":
    default:
      return wording.text("fileName", { field });
  }
}

/** Writes a size as `5 MB`, `1.5 MB` or `300 KB`, with the digits of the language. Rounds down, so that a file of this size is accepted. */
export function megabytes(bytes: number, wording: Wording): string {
  const [unit, name] = bytes >= 1_048_576 ? [1_048_576, "MB"] : [1024, "KB"];
  return bytes < 1024 ? `${bytes} B` : `${wording.number(Math.floor((bytes * 10) / unit) / 10)} ${name}`;
}

const STRING_TEXTS = {
  email: "noEmail",
  url: "noUrl",
  date: "noDate",
  phone: "noPhone",
  regex: "noMatch",
} as const;

function typeMessage(
  field: string,
  { expected, received }: Extract<IssueFacts, { readonly code: "invalid_type" }>,
  wording: Wording,
): string {
  if (received === "undefined") return wording.text("required", { field });
  const given = TYPE_TEXTS[received];
  return wording.text("wrongType", {
    field,
    expected: expectedText(expected, received, wording),
    received: given === undefined ? (received === "nan" ? "NaN" : received) : wording.text(given),
  });
}

/** The form of a number that posts take, whatever the language: whoever wrote `1.234,5` sees what to write. A text, so that no language formats it. */
const WRITTEN_NUMBER = "1234.5";

function expectedText(expected: string, received: string, wording: Wording): string {
  if (expected === "number" && received === "string")
    return wording.text("numberLike", { example: WRITTEN_NUMBER });
  const wanted = TYPE_TEXTS[expected];
  // For a field with an `enum`, `expected` lists its values.
  return wanted === undefined
    ? wording.text("oneOfOptions", { options: cutAfter(expected) })
    : wording.text(wanted);
}

function amountOf(type: "string" | "array", bound: number, wording: Wording): string {
  return wording.amount(type === "string" ? "characters" : "items", bound);
}

function list(values: readonly unknown[], wording: Wording): string {
  const shown = values.slice(0, MAX_LISTED).map((value) => cutAfter(String(value)));
  const left = values.length - MAX_LISTED;
  if (left > 0) shown.push(wording.text("furtherOptions", { count: left }));
  return shown.join(", ");
}

/** The first `length` UTF-16 units of a longer text, and then an ellipsis. */
export function cutAfter(text: string, length = MAX_LABEL_LENGTH): string {
  return text.length > length ? `${text.slice(0, length).toWellFormed()}…` : text;
}
