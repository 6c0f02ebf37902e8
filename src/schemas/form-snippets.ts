import { escapeHtml } from "../foundation/html.ts";
import type { SchemaDefinition } from "./definition.ts";
import { findLanguage } from "../languages/language.ts";
import { type Wording, wordingIn } from "../languages/wording.ts";
import type {
  ArrayField,
  BooleanField,
  FieldDefinition,
  FileField,
  NumberField,
  StringField,
  StringFormat,
} from "./field-definition.ts";
import {
  type Group,
  emptyBoxOf,
  isConsent,
  isGroup,
  isLongText,
  isNeeded,
  leastRows,
  MAX_BOXES,
  rowsOf,
} from "./form-inputs.ts";
import { nameInWords } from "./field-label.ts";
import { fileHint } from "./file-hint.ts";
import { purposeOf } from "./field-purpose.ts";
import { htmlPattern } from "./html-pattern.ts";
import { DEFAULT_ACCEPT } from "./file-types.ts";
import type { FileBounds } from "./posted-file.ts";

/** The address for the posts of an endpoint, and the key that they carry. */
export interface SnippetTarget {
  /** The server's address without a slash at the end. */
  readonly base: string;
  readonly key: string;
  /** The name of the hidden field against robots; null if the endpoint has none. */
  readonly honeypot: string | null;
  /** The tag of the language for visitors; null or absent leaves the choice to their browsers. */
  readonly language?: string | null;
  /** The server's limits for files, which visitors read; null or absent if unknown. */
  readonly fileBounds?: FileBounds | null;
  /** The challenge that the owner chose; absent for none. That of a service needs its site key. */
  readonly challenge?: {
    readonly kind: "off" | "pow" | "turnstile" | "hcaptcha";
    readonly siteKey: string | null;
  };
}

/** The HTML of a form with all fields of the schema. It works without script, and better with it. */
export function formSnippet(
  definition: SchemaDefinition,
  { base, key, honeypot, language = null, fileBounds = null, challenge }: SnippetTarget,
): string {
  const wording = wordingIn(findLanguage(language) ?? "en");
  const fields = Object.entries(definition).flatMap(([name, field]) =>
    field.type === "file"
      ? fileLines(name, field, fileBounds && fileHint(field, fileBounds, wording), wording)
      : inputLines(field, { path: [name], isAsked: true, isInRow: false }, wording),
  );
  // Without this attribute a browser sends the names of files instead of the files.
  const isUpload = Object.values(definition).some(({ type }) => type === "file");
  const encoding = isUpload ? ' enctype="multipart/form-data"' : "";
  const lang = language === null ? "" : ` lang="${escapeHtml(language)}"`;
  const task =
    challenge?.kind === "pow"
      ? ` data-formsvc-challenge="${escapeHtml(base)}/challenge?key=${escapeHtml(key)}"`
      : "";
  const trap =
    honeypot === null
      ? []
      : [
          `<p hidden><label>Leave this empty <input name="${escapeHtml(honeypot)}" tabindex="-1" autocomplete="off"></label></p>`,
        ];
  return [
    `<script src="${escapeHtml(base)}/formsvc.js" defer></script>`,
    `<form data-formsvc action="${escapeHtml(base)}/f/${escapeHtml(key)}" method="post"${encoding}${lang}${task}>`,
    ...[
      ...fields,
      ...trap,
      ...challengeLines(challenge),
      `<p><button>${escapeHtml(wording.text("send"))}</button></p>`,
    ].map((line) => `  ${line}`),
    "</form>",
  ].join("\n");
}

function challengeLines(challenge: SnippetTarget["challenge"]): string[] {
  const { kind = "off", siteKey = null } = challenge ?? {};
  if (kind === "off" || kind === "pow" || siteKey === null) return [];
  const [script, mark] =
    kind === "turnstile"
      ? ["https://challenges.cloudflare.com/turnstile/v0/api.js", "cf-turnstile"]
      : ["https://js.hcaptcha.com/1/api.js", "h-captcha"];
  return [
    `<script src="${script}" async defer></script>`,
    `<div class="${mark}" data-sitekey="${escapeHtml(siteKey)}"></div>`,
  ];
}

/** The JavaScript with which a page's own script sends a post. */
export function fetchSnippet(definition: SchemaDefinition, { base, key }: SnippetTarget): string {
  const example = JSON.stringify(exampleOf(definition), null, 2).replaceAll("\n", "\n  ");
  return `const answer = await fetch(${quoted(`${base}/submit`)}, {
  method: "POST",
  headers: { Authorization: ${quoted(`Bearer ${key}`)}, "Content-Type": "application/json" },
  body: JSON.stringify(${harmless(example)}),
});
const result = await answer.json();
const thanks = result.success ? "Thank you." : result.visitor_message;`;
}

/** An example with a value for each field. In most cases the schema accepts it, but patterns and lengths are not considered. */
export function exampleOf(definition: SchemaDefinition): Record<string, unknown> {
  const typed = Object.entries(definition).filter(([, { type }]) => type !== "file");
  return Object.fromEntries(typed.map(([name, field]) => [name, exampleValue(field)]));
}

function exampleValue(field: FieldDefinition): unknown {
  if (field.type === "file") return undefined;
  if (field.default !== undefined) return field.default;
  if (field.type === "object") return exampleOf(field.properties ?? {});
  if (field.type === "array") return field.items === undefined ? [] : [exampleValue(field.items)];
  const [first] = field.enum ?? [];
  if (first !== undefined) return first;
  if (field.type === "boolean") return true;
  if (field.type === "number") return field.minimum ?? field.maximum ?? 1;
  return field.format === undefined ? "…" : EXAMPLES[field.format];
}

const EXAMPLES: Readonly<Record<StringFormat, string>> = {
  email: "ada@example.com",
  url: "https://example.com",
  date: "2030-12-31",
  phone: "+44 20 7946 0958",
};

function quoted(text: string): string {
  return harmless(JSON.stringify(text));
}

/** Escapes `<` in JSON, so that it cannot end a script or begin a comment when it is pasted into a page. */
function harmless(json: string): string {
  return json.replaceAll("<", "\\u003c");
}

/**
 * The position of an input. `isAsked` is false inside a group or row that may stay empty as a whole, because then nobody must fill it in.
 */
interface InputPosition {
  readonly path: readonly string[];
  readonly isAsked: boolean;
  readonly isInRow: boolean;
}

function inputLines(field: FieldDefinition, position: InputPosition, wording: Wording): string[] {
  const { path, isAsked } = position;
  if (isGroup(field))
    return groupLines(field, { ...position, isAsked: isAsked && field.required === true }, wording);
  if (field.type === "array" && isGroup(field.items) && !position.isInRow)
    return rowLines(field, field.items, position, wording);
  const isRequired = isAsked && isNeeded(field);
  const optional = optionalMark(isNeeded(field), wording);
  const label = escapeHtml(field.label ?? labelOf(path));
  const name = `name="${escapeHtml(nameOf(path))}"`;
  if (field.type === "boolean") return [`<p>${boxOf(field, position)} ${label}</label></p>`];
  const item = field.type === "array" ? field.items : field;
  if (item === undefined || (item.type !== "string" && item.type !== "number"))
    return [`<!-- ${label}: no input of a page can hold this; send it by a script. -->`];
  if (field.type !== "array")
    return [
      `<p><label>${label}${optional} ${control(`${name}${purposeMark(path, item)}`, item, { isRequired, isList: false })}</label></p>`,
    ];
  if (item.enum === undefined || item.enum.length > MAX_BOXES)
    return [
      `<p><label>${label}${optional} ${control(name, item, { isRequired: false, isList: item.enum !== undefined })}</label></p>`,
    ];
  const boxes = item.enum.map((value) => {
    const text = escapeHtml(String(value));
    return `<label><input type="checkbox" ${name} value="${text}"> ${text}</label>`;
  });
  return fieldset(`${label}${optional}`, boxes);
}

function optionalMark(isNeeded: boolean, wording: Wording): string {
  return isNeeded ? "" : ` (${wording.text("optional")})`;
}

function groupLines(group: Group, position: InputPosition, wording: Wording): string[] {
  const { label, properties } = group;
  const { path } = position;
  const lines = Object.entries(properties).flatMap(([name, member]) =>
    inputLines(member, { ...position, path: [...path, name] }, wording),
  );
  const optional = optionalMark(group.required === true, wording);
  return fieldset(`${escapeHtml(label ?? labelOf(path))}${optional}`, lines);
}

function rowLines(
  list: ArrayField,
  items: Group,
  { path, isAsked }: InputPosition,
  wording: Wording,
): string[] {
  const label = list.label ?? labelOf(path);
  return Array.from({ length: rowsOf(list) }, (_, row) => {
    const required = row < leastRows(list);
    const position = { path: [...path, String(row)], isAsked: isAsked && required, isInRow: true };
    return groupLines({ ...items, required, label: `${label} ${row + 1}` }, position, wording);
  }).flat();
}

function fieldset(legend: string, lines: readonly string[]): string[] {
  return [
    "<fieldset>",
    ...[`<legend>${legend}</legend>`, ...lines].map((line) => `  ${line}`),
    "</fieldset>",
  ];
}

/** The beginning of a box; the caller adds the text of the label and its end. */
function boxOf(field: BooleanField, { path, isAsked }: InputPosition): string {
  const name = `name="${escapeHtml(nameOf(path))}"`;
  const empty = emptyBoxOf(field, path);
  // Sends the value of an unticked box. If a name is sent twice, the last value counts, so a tick overrides it.
  const no = empty === null ? "" : `<input type="hidden" ${name} value="${empty}">`;
  // Inside a group that may stay empty no box is ticked by default, because the tick would fill in the group.
  const marks = !isAsked ? "" : isConsent(field) ? " required" : field.default === true ? " checked" : "";
  return `${no}<label><input type="checkbox" ${name} value="true"${marks}>`;
}

/** The input for files, which only the top level of a form can have. @param hint says what the field takes; null if unknown */
function fileLines(name: string, field: FileField, hint: string | null, wording: Wording): string[] {
  const { accept = DEFAULT_ACCEPT, maxFiles = 1, required = false, label = labelOf([name]) } = field;
  const marks = `${maxFiles > 1 ? " multiple" : ""}${required ? " required" : ""}`;
  const input = `<input type="file" name="${escapeHtml(name)}" accept="${escapeHtml(accept.join(","))}"${marks}>`;
  const said = hint === null ? "" : ` <small>${escapeHtml(hint)}</small>`;
  return [`<p><label>${escapeHtml(label)}${optionalMark(required, wording)} ${input}${said}</label></p>`];
}

function control(
  name: string,
  field: StringField | NumberField,
  { isRequired, isList }: { readonly isRequired: boolean; readonly isList: boolean },
): string {
  const required = isRequired ? " required" : "";
  if (field.enum !== undefined) {
    // Without an empty option, a browser would send the first one if the visitor chooses nothing.
    const empty = isList ? "" : `<option value=""></option>`;
    const options = field.enum.map((value) => optionOf(value, value === field.default)).join("");
    return `<select ${name}${isList ? " multiple" : ""}${required}>${empty}${options}</select>`;
  }
  if (field.type === "number") {
    const bounds = `${bound("min", field.minimum)}${bound("max", field.maximum)}`;
    return `<input ${name} type="number" step="any"${bounds}${required}>`;
  }
  const lengths = `${bound("minlength", field.minLength)}${bound("maxlength", field.maxLength)}`;
  if (field.format === undefined && isLongText(name, field))
    return `<textarea ${name}${lengths}${required}></textarea>`;
  const type = field.format === undefined ? "" : INPUT_TYPES[field.format];
  const pattern = htmlPattern(field.pattern);
  const rules = `${lengths}${pattern === null ? "" : ` pattern="${escapeHtml(pattern)}"`}`;
  return `<input ${name}${type}${field.format === "date" ? "" : rules}${required}>`;
}

const INPUT_TYPES: Readonly<Record<StringFormat, string>> = {
  email: ` type="email" autocomplete="email"`,
  url: ` type="url"`,
  date: ` type="date"`,
  phone: ` type="tel" autocomplete="tel"`,
};

/** Tells the browser which facts about the visitor it may fill in. Formats say so themselves. */
function purposeMark(path: readonly string[], field: StringField | NumberField): string {
  if (field.type === "number" || field.enum !== undefined) return "";
  if (field.format !== undefined && field.format !== "date") return "";
  const isLong = isLongText(path.at(-1) ?? "", field);
  const purpose = purposeOf(nameOf(path), field.format ?? (isLong ? "lines" : "text"));
  return purpose === null ? "" : ` autocomplete="${purpose}"`;
}

function optionOf(value: string | number, isSelected: boolean): string {
  return `<option${isSelected ? " selected" : ""}>${escapeHtml(String(value))}</option>`;
}

function bound(attribute: string, value: number | undefined): string {
  return value === undefined ? "" : ` ${attribute}="${value}"`;
}

/** The name of an input in a plain form: `address[city]`. */
function nameOf([root = "", ...inner]: readonly string[]): string {
  return root + inner.map((name) => `[${name}]`).join("");
}

function labelOf(path: readonly string[]): string {
  return nameInWords(path.at(-1) ?? "");
}
