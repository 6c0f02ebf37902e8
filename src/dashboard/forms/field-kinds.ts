import type { FieldDefinition, FieldType, StringFormat } from "../../schemas/field-definition.ts";
import { isConsent, isLongText } from "../../schemas/form-inputs.ts";
import type { IconName } from "../kit/icons.ts";
import type { FieldRow, RowInput } from "./schema-words.ts";

/** The kinds of fields, in the words of people who make forms. Several kinds are the same type in a schema. */
export const FIELD_KINDS = [
  "text",
  "area",
  "email",
  "phone",
  "url",
  "number",
  "date",
  "choice",
  "choices",
  "answer",
  "consent",
  "file",
  "group",
  "list",
] as const;

export type FieldKind = (typeof FIELD_KINDS)[number];

export const KIND_LABELS: Readonly<Record<FieldKind, string>> = {
  text: "Short text",
  area: "Long text",
  email: "E-mail",
  phone: "Phone",
  url: "Web address",
  number: "Number",
  date: "Date",
  choice: "One choice",
  choices: "Several choices",
  answer: "Yes or no",
  consent: "Consent",
  file: "File",
  group: "Group",
  list: "List",
};

export const KIND_ICONS: Readonly<Record<FieldKind, IconName>> = {
  text: "line",
  area: "lines",
  email: "letter",
  phone: "phone",
  url: "link",
  number: "number",
  date: "day",
  choice: "choice",
  choices: "choices",
  answer: "switch",
  consent: "check",
  file: "clip",
  group: "group",
  list: "list",
};

/** The type and format of a kind in a schema. */
interface Meaning {
  readonly type: FieldType;
  readonly format?: StringFormat;
}

export const MEANINGS: Readonly<Record<FieldKind, Meaning>> = {
  text: { type: "string" },
  area: { type: "string" },
  email: { type: "string", format: "email" },
  phone: { type: "string", format: "phone" },
  url: { type: "string", format: "url" },
  number: { type: "number" },
  date: { type: "string", format: "date" },
  choice: { type: "string" },
  choices: { type: "array" },
  answer: { type: "boolean" },
  consent: { type: "boolean" },
  file: { type: "file" },
  group: { type: "object" },
  list: { type: "array" },
};

/** The inputs of a kind. */
interface KindInputs {
  /** Inputs that are always shown. */
  readonly plain: readonly RowInput[];
  /** Inputs that are folded. */
  readonly folded: readonly RowInput[];
  /** Inputs that are folded, and shown only if they have content. People who need such rules write them as JSON. */
  readonly rare: readonly RowInput[];
}

const LENGTHS: readonly RowInput[] = ["minLength", "maxLength"];
const ITEMS: readonly RowInput[] = ["minItems", "maxItems"];
const FORMATTED: KindInputs = { plain: [], folded: ["default"], rare: [...LENGTHS, "pattern", "enum"] };

export const KIND_INPUTS: Readonly<Record<FieldKind, KindInputs>> = {
  text: { plain: LENGTHS, folded: ["default", "pattern"], rare: [] },
  area: { plain: LENGTHS, folded: ["default", "pattern"], rare: [] },
  email: FORMATTED,
  phone: FORMATTED,
  url: FORMATTED,
  date: FORMATTED,
  number: { plain: ["minimum", "maximum"], folded: ["default"], rare: ["enum"] },
  choice: { plain: ["enum"], folded: ["default"], rare: [...LENGTHS, "pattern"] },
  choices: { plain: ["enum", ...ITEMS], folded: [], rare: ["default"] },
  answer: { plain: [], folded: ["default"], rare: ["enum"] },
  consent: { plain: [], folded: [], rare: ["default"] },
  file: { plain: ["accept", "megabytes", "maxFiles"], folded: [], rare: ["maxBytes"] },
  group: { plain: ["members"], folded: ["properties"], rare: ["default"] },
  list: { plain: ["entries", ...ITEMS], folded: ["items"], rare: ["default"] },
};

/** All inputs of a kind, without those that every kind has. */
export function inputsOf(kind: FieldKind): readonly RowInput[] {
  const { plain, folded, rare } = KIND_INPUTS[kind];
  return [...plain, ...folded, ...rare];
}

/** The kind of a row. For a row that a page of an earlier version sent, its type and format decide. */
export function kindOfRow(row: FieldRow): FieldKind {
  const chosen = FIELD_KINDS.find((each) => each === row.kind);
  if (chosen !== undefined) return chosen;
  const format = FIELD_KINDS.find((each) => each === row.format && MEANINGS[each].format === row.format);
  if (row.type === undefined || row.type === "string") return format ?? (row.enum ? "choice" : "text");
  return OF_TYPES[row.type] ?? "text";
}

const OF_TYPES: Readonly<Record<string, FieldKind>> = {
  number: "number",
  boolean: "answer",
  object: "group",
  array: "list",
  file: "file",
};

export function kindOfField(name: string, field: FieldDefinition): FieldKind {
  if (field.type === "string") {
    if (field.format !== undefined) return field.format;
    if (field.enum !== undefined) return "choice";
    return isLongText(name, field) ? "area" : "text";
  }
  if (field.type === "boolean") return isConsent(field) ? "consent" : "answer";
  if (field.type === "array") return isChoices(field.items) ? "choices" : "list";
  return field.type === "object" ? "group" : field.type;
}

/** Whether items are texts to choose from, without further rules. */
function isChoices(items: FieldDefinition | undefined): boolean {
  return items?.type === "string" && items.enum !== undefined && Object.keys(items).length === 2;
}
