import { html, type Html } from "../../foundation/html.ts";
import type { FieldType } from "../../schemas/field-definition.ts";
import {
  areaField,
  codeField,
  type FieldParts,
  type Option,
  optionsOf,
  type Problems,
  selectField,
  textField,
} from "../kit/field.ts";
import { readText } from "../kit/typed-text.ts";
import { type FieldKind, kindOfRow, MEANINGS } from "./field-kinds.ts";
import { ENTRIES } from "./field-row.ts";
import { type FieldRow, inputName, ROW_LABELS, type RowInput } from "./schema-words.ts";

/** One row of the form, and its problems. */
export interface ItemParts {
  readonly row: FieldRow;
  readonly index: number;
  readonly problems: Problems;
}

/** The inputs for these rules. A minimum and its maximum stand in one sentence. */
export function ruleInputs(parts: ItemParts, inputs: readonly RowInput[]): readonly Html[] {
  return inputs.flatMap((input) => {
    const pair = PAIRS.find(({ least, most }) => input === least || input === most);
    if (pair === undefined || !inputs.includes(pair.least) || !inputs.includes(pair.most))
      return [ruleInput(parts, input)];
    return input === pair.least ? [sentence(parts, pair)] : [];
  });
}

interface Pair {
  readonly least: RowInput;
  readonly most: RowInput;
  readonly of: string;
}

const PAIRS: readonly Pair[] = [
  { least: "minLength", most: "maxLength", of: "characters" },
  { least: "minItems", most: "maxItems", of: "of them" },
  { least: "minimum", most: "maximum", of: "" },
];

function sentence(parts: ItemParts, { least, most, of }: Pair): Html {
  return html`<div class="all sentence">
    <div>At least ${smallInput(parts, least)} and at most ${smallInput(parts, most)} ${of}</div>
    ${[least, most].map((input) => problemOf(parts, input))}
  </div>`;
}

function smallInput({ row, index, problems }: ItemParts, input: RowInput): Html {
  const name = inputName(index, input);
  const id = idOf(name);
  const isWrong = problems.has(name);
  return html`<input
    class="few num"
    id="${id}"
    name="${name}"
    value="${row[input] ?? ""}"
    inputmode="decimal"
    aria-label="${ROW_LABELS[input]}"
    ${isWrong && html` aria-invalid="true" aria-describedby="${id}-problem"`}
  />`;
}

function problemOf({ index, problems }: ItemParts, input: RowInput): Html | null {
  const name = inputName(index, input);
  const problem = problems.get(name);
  return problem === undefined ? null : html`<p class="problem" id="${idOf(name)}-problem">${problem}</p>`;
}

function idOf(name: string): string {
  return `f-${name.replace(/[^\w-]/g, "-")}`;
}

const YES_OR_NO = optionsOf({
  "": "Nothing",
  true: "Yes",
  false: "No",
});

function ruleInput(parts: ItemParts, input: RowInput): Html {
  const { row, index, problems } = parts;
  const kind = kindOfRow(row);
  const { type } = MEANINGS[kind];
  const hint = input === "name" ? nameHint(row) : HINTS[input];
  const field = {
    name: inputName(index, input),
    label: ROW_LABELS[input],
    value: row[input] ?? "",
    problems,
    ...(hint !== undefined && { hint }),
  };
  if (input === "name") return textField({ ...field, isCode: true });
  if (input === "pattern") return wide(textField({ ...field, isCode: true }));
  if (input === "entries") return selectField({ ...field, value: entryOf(row) }, entryOptions(row));
  if (input === "default") return defaultInput(field, type);
  if (input === "enum")
    return wide(areaField(isChoice(kind) ? field : { ...field, label: "Allowed values" }));
  if (input === "accept" || input === "members") return wide(areaField(field));
  if (input === "properties" || input === "items") return wide(codeField(field));
  return textField(field);
}

function defaultInput(field: FieldParts, type: FieldType): Html {
  if (type === "boolean") return selectField(field, YES_OR_NO);
  if (type === "object" || type === "array") return wide(codeField({ ...field, hint: "As JSON." }));
  return textField(field);
}

function isChoice(kind: FieldKind): boolean {
  return kind === "choice" || kind === "choices";
}

function nameHint({ name = "" }: FieldRow): Html {
  return name === ""
    ? html`Empty makes one of the label`
    : html`As in your page: <code>name="${readText(name)}"</code>`;
}

function wide(field: Html): Html {
  return html`<div class="all">${field}</div>`;
}

function entryOf({ entries = "", items = "" }: FieldRow): string {
  if (items.trim() !== "") return "json";
  return ENTRIES.some(({ value }) => value === entries) ? entries : "text";
}

function entryOptions({ items = "" }: FieldRow): readonly Option[] {
  return items.trim() === "" ? ENTRIES : [{ value: "json", label: "As the JSON below says" }, ...ENTRIES];
}

const HINTS: Readonly<Partial<Record<RowInput, string | Html>>> = {
  enum: "One a line",
  members: "One a line; each is a short text. Empty takes any",
  properties: html`For other kinds, like <code>{"city": {"type": "string"}}</code>`,
  items: html`For other kinds, like <code>{"type": "string", "maxLength": 50}</code>`,
  accept: html`One a line: PDF, Pictures, or a type like <code>.docx</code>. Empty takes documents, pictures, text and tables`,
  description: "Visitors do not see it",
  pattern: html`For experts: a regular expression that the text must match. <code>^[0-9]{5}$</code> takes five digits`,
};
