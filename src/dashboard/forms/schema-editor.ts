import { html, type Html } from "../../foundation/html.ts";
import { FIELD_TYPES, type FieldType, PROPERTIES } from "../../schemas/field-definition.ts";
import { areaField, checkField, type Option, type Problems, selectField, textField } from "../kit/field.ts";
import type { SchemaDraft } from "./schema-draft.ts";
import { type FieldRow, inputName, JSON_INPUT } from "./schema-form.ts";
import { ROW_LABELS, type RowInput, TYPE_LABELS } from "./schema-words.ts";
import { readText } from "../kit/typed-text.ts";

interface EditorParts {
  readonly draft: SchemaDraft;
  readonly problems: Problems;
  /** The path that the form is sent to: its buttons lead back to the place where something changed. */
  readonly path: string;
  /** The button that was pressed: a field whose kind was changed shows its rules. */
  readonly action?: string;
}

/** The inputs and buttons of a schema, for inside a form. Each button sends the form, and the page comes back with all that was typed. */
export function schemaEditor(parts: EditorParts): Html {
  return parts.draft.view === "json"
    ? jsonEditor(parts.draft.json, parts)
    : fieldsEditor(parts.draft.rows, parts);
}

/** The first button of a form is what the Enter key presses; this one does what the form is for. */
export function enterButton(action: string): Html {
  return html`<button class="hidden-text" name="action" value="${action}" tabindex="-1" aria-hidden="true">
    Enter
  </button>`;
}

function fieldsEditor(rows: readonly FieldRow[], { problems, path, action = "" }: EditorParts): Html {
  return html`<section class="card" aria-labelledby="fields">
    <header>
      <h2 id="fields">Fields of the form</h2>
      ${actionButton({ action: "json", text: "Edit as JSON", to: `${path}#fields` })}
    </header>
    <div class="body schema">
      <input type="hidden" name="view" value="form" />
      <p class="muted">
        A field’s name is the name of the input in your page, like <code>email</code>. What does not follow the rules is not taken, and
        the visitor is told why.
      </p>
      ${rows.length === 0 && html`<p>No fields yet.</p>`}
      ${rows.map((row, index) => fieldset(row, index, { count: rows.length, problems, path, action }))}
      <p>${actionButton({ action: "add", text: "Add a field", to: `${path}#field-${rows.length}` })}</p>
    </div>
  </section>`;
}

function jsonEditor(json: string, { problems, path }: EditorParts): Html {
  const hint = html`Field names with their rules. The properties are the same as in the form, and
    <code>formsvc schema check</code> checks the same.`;
  return html`<section class="card" aria-labelledby="fields">
    <header>
      <h2 id="fields">Fields of the form, as JSON</h2>
      ${actionButton({ action: "form", text: "Edit as a form", to: `${path}#fields` })}
    </header>
    <div class="body schema">
      <input type="hidden" name="view" value="json" />
      ${areaField({ name: JSON_INPUT, label: "Schema", value: json, hint, problems }, true)}
    </div>
  </section>`;
}

interface Place {
  readonly count: number;
  readonly problems: Problems;
  readonly path: string;
  readonly action: string;
}

function fieldset(row: FieldRow, index: number, { count, problems, path, action }: Place): Html {
  const name = readText(row.name ?? "");
  const called = name === "" ? `field ${index + 1}` : name;
  const type = typeOf(row);
  const field = { row, index, problems };
  return html`<fieldset class="schema-field" id="field-${index}">
    <legend>${name === "" ? html`Field ${index + 1}` : html`<bdi>${name}</bdi>`}</legend>
    <div class="row">
      ${rowText(field, "name")} ${rowText(field, "label")} ${rowSelect(field, "type", TYPES)}
      <span data-retype>
        ${actionButton({ action: `retype-${index}`, text: "Show its rules", of: called, to: `${path}#field-${index}` })}
      </span>
    </div>
    ${checkField({ name: inputName(index, "required"), label: ROW_LABELS.required, value: row.required ?? "" })}
    <div data-rules>
      <details ${(hasProblem(field) || action === `retype-${index}`) && html` open`}>
        <summary>${summaryOf(row, type)}</summary>
        <div class="rules">${rulesOf(field, type)}</div>
      </details>
      ${keptInputs(row, index, type)}
    </div>
    <div class="move">
      ${index > 0 && actionButton({ action: `up-${index}`, text: "Move up", of: called, to: `${path}#field-${index - 1}` })}
      ${
        index < count - 1 &&
        actionButton({
          action: `down-${index}`,
          text: "Move down",
          of: called,
          to: `${path}#field-${index + 1}`,
        })
      }
      ${actionButton({ action: `remove-${index}`, text: "Remove", of: called, to: `${path}#fields` })}
    </div>
  </fieldset>`;
}

interface RowParts {
  readonly row: FieldRow;
  readonly index: number;
  readonly problems: Problems;
}

const TYPES: readonly Option[] = FIELD_TYPES.map((value) => ({ value, label: TYPE_LABELS[value] }));
const FORMATS: readonly Option[] = [
  { value: "", label: "Any text" },
  { value: "email", label: "E-mail address" },
  { value: "url", label: "Web address" },
  { value: "date", label: "Date" },
  { value: "phone", label: "Telephone number" },
];
const YES_OR_NO: readonly Option[] = [
  { value: "", label: "Nothing" },
  { value: "true", label: "Yes" },
  { value: "false", label: "No" },
];

/** The rules that a field of this type can have, as they stand in {@link ROW_LABELS}: what is used most comes first. */
function rulesOf(field: RowParts, type: FieldType): readonly Html[] {
  return rulesFor(type).map((rule) => ruleInput(field, rule, type));
}

/** What stands above the rules. */
const IN_THE_ROW: ReadonlySet<RowInput> = new Set(["type", "required", "label"]);

function rulesFor(type: FieldType): readonly RowInput[] {
  const known: readonly string[] = PROPERTIES[type];
  const inputs = Object.keys(ROW_LABELS) as RowInput[];
  return inputs.filter((input) => known.includes(input) && !IN_THE_ROW.has(input));
}

function ruleInput(field: RowParts, property: RowInput, type: FieldType): Html {
  const isNested = type === "object" || type === "array";
  if (property === "format") return rowSelect(field, property, FORMATS);
  if (property === "default" && type === "boolean") return rowSelect(field, property, YES_OR_NO);
  if (property === "enum") return rowArea(field, property, "One value a line. Empty allows any.", false);
  if (property === "accept") return rowArea(field, property, ACCEPT_HINT, false);
  if (property === "properties") return rowArea(field, property, MEMBERS_HINT, true);
  if (property === "items") return rowArea(field, property, ITEMS_HINT, true);
  if (property === "default" && isNested) return rowArea(field, property, "As JSON.", true);
  return rowText(field, property);
}

const MEMBERS_HINT = html`As JSON, like <code>{"city": {"type": "string"}}</code>. Empty allows any members.`;
const ITEMS_HINT = html`As JSON, like <code>{"type": "string"}</code>. Empty allows any items.`;

const ACCEPT_HINT = html`One a line, like <code>application/pdf</code>, <code>.docx</code> or <code>image/*</code>. Empty takes documents, pictures, text and tables.`;

const HINTS: Readonly<Partial<Record<RowInput, string>>> = {
  label: "What people read in its place; empty for the name",
  description: "For people; checked by nobody",
  pattern:
    "For experts: a regular expression (RE2) that the text must match. ^[0-9]{5}$ takes five digits, ^[0-9 +()/-]{6,20}$ a telephone number",
};
const NUMBERS: ReadonlySet<RowInput> = new Set([
  "minLength",
  "maxLength",
  "minimum",
  "maximum",
  "minItems",
  "maxItems",
  "maxBytes",
  "maxFiles",
]);

function rowText(field: RowParts, input: RowInput): Html {
  const hint = HINTS[input];
  const markup = textField({ ...inputParts(field, input), ...(hint !== undefined && { hint }) });
  return NUMBERS.has(input) ? html`<div class="short">${markup}</div>` : markup;
}

function rowSelect(field: RowParts, input: RowInput, options: readonly Option[]): Html {
  return selectField(inputParts(field, input), options);
}

function rowArea(field: RowParts, input: RowInput, hint: string | Html, isCode: boolean): Html {
  return areaField({ ...inputParts(field, input), hint }, isCode);
}

function inputParts({ row, index, problems }: RowParts, input: RowInput) {
  return { name: inputName(index, input), label: ROW_LABELS[input], value: row[input] ?? "", problems };
}

function typeOf(row: FieldRow): FieldType {
  return FIELD_TYPES.find((known) => known === row.type) ?? "string";
}

/** What was typed for another type stays with the form, in case the type is changed back. */
function keptInputs(row: FieldRow, index: number, type: FieldType): readonly Html[] {
  const shown: ReadonlySet<string> = new Set(["name", ...PROPERTIES[type]]);
  return Object.entries(row)
    .filter(([input, value]) => !shown.has(input) && value !== "")
    .map(
      ([input, value]) =>
        html`<input type="hidden" name="${inputName(index, input as RowInput)}" value="${value}" />`,
    );
}

function hasProblem({ index, problems }: RowParts): boolean {
  const prefix = inputName(index, "" as RowInput);
  return [...problems.keys()].some(
    (name) => name.startsWith(prefix) && ![`${prefix}name`, `${prefix}label`].includes(name),
  );
}

/** The rules in short, so that a closed field tells what it has. */
function summaryOf(row: FieldRow, type: FieldType): string {
  const set = rulesFor(type).filter((rule) => (row[rule] ?? "").trim() !== "");
  const named = set.map((property) =>
    property === "format" ? formatName(row.format) : ROW_LABELS[property],
  );
  return named.length === 0 ? "Rules" : `Rules: ${named.join(", ").toLowerCase()}`;
}

function formatName(format = ""): string {
  return FORMATS.find(({ value }) => value === format)?.label ?? format;
}

interface ActionButton {
  readonly action: string;
  readonly text: string;
  /** What it acts on, for those who hear the page. */
  readonly of?: string;
  readonly to: string;
}

function actionButton({ action, text, of, to }: ActionButton): Html {
  const more = of === undefined ? null : html`<span class="hidden-text"> ${of}</span>`;
  return html`<button name="action" value="${action}" formaction="${to}" formnovalidate>${text}${more}</button>`;
}
