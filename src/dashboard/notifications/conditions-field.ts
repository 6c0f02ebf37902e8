import { html, type Html } from "../../foundation/html.ts";
import {
  checkConditions,
  type Condition,
  CONDITION_KINDS,
  MAX_CONDITIONS,
} from "../../outbox/queue/conditions.ts";
import { type ConditionFields, nameOfCalled, typedFor } from "./condition-fields.ts";
import { CONDITION_VERBS } from "./condition-words.ts";
import { type Option, type Problems, selectField, textField, tryField } from "../kit/field.ts";

/** One condition as it was typed. */
export type TypedCondition = Readonly<Record<"field" | "is" | "value", string>>;

/** The name under which a problem of the conditions is reported. */
const NAME = "conditions";
/** The number of empty rows below the filled ones. */
const SPARE_ROWS = 2;

const KINDS: readonly Option[] = CONDITION_KINDS.map((value) => ({ value, label: CONDITION_VERBS[value] }));

function inputName(row: number, input: keyof TypedCondition): string {
  return `when.${row}.${input}`;
}

export function readTypedConditions(form: URLSearchParams): readonly TypedCondition[] {
  const rows = Array.from({ length: MAX_CONDITIONS }, (_, row) => ({
    field: (form.get(inputName(row, "field")) ?? "").trim(),
    is: form.get(inputName(row, "is")) ?? "=",
    value: (form.get(inputName(row, "value")) ?? "").trim(),
  }));
  return rows.filter(({ field, value }) => field !== "" || value !== "");
}

/**
 * The conditions of the rows. If one of them is invalid, a problem is added.
 *
 * @param fields the form's fields, by name; null if the form is not known yet
 * @param known conditions that are accepted unchanged
 */
export function checkTypedConditions(
  problems: Map<string, string>,
  typed: readonly TypedCondition[],
  fields: ConditionFields | null,
  known: readonly Condition[] = [],
): readonly Condition[] {
  const given = typed.map(({ field, is, value }): Condition => {
    const kind = CONDITION_KINDS.find((each) => each === is) ?? "=";
    const name = fields === null ? field : nameOfCalled(fields, field);
    return { field: name, is: kind, value: kind === "filled" || kind === "empty" ? "" : value };
  });
  if (given.some(({ field }) => field === ""))
    problems.set(NAME, "A condition has a value and no field: write the field’s name, or empty the row.");
  else if (fields !== null) {
    const knownFields = Object.fromEntries(known.map(({ field }) => [field, true]));
    tryField(problems, NAME, () => checkConditions(given, { ...knownFields, ...fields }));
  }
  return given;
}

interface ConditionsParts {
  readonly typed: readonly TypedCondition[];
  readonly problems: Problems;
  /** The fields to choose from; null if the form is not known yet. */
  readonly fields: ConditionFields | null;
}

const LIST_ID = "condition-fields";

/** Rows that choose which posts are sent. They are folded until there is a condition. */
export function conditionsField({ typed, problems, fields }: ConditionsParts): Html {
  const count = Math.min(typed.length + SPARE_ROWS, MAX_CONDITIONS);
  const rows = Array.from({ length: count }, (_, row) => rowView(typed[row], row, fields ?? {}));
  const problem = problems.get(NAME);
  const described = problem === undefined ? `f-${NAME}-hint` : `f-${NAME}-hint f-${NAME}-problem`;
  return html`<details class="conditions" ${(typed.length > 0 || problem !== undefined) && html` open`}>
    <summary>Only some posts</summary>
    <fieldset id="f-${NAME}" aria-describedby="${described}">
      <legend>Send only what meets all of these</legend>
      ${problem !== undefined && html`<p class="problem" id="f-${NAME}-problem">${problem}</p>`}
      ${rows}
      ${
        fields !== null &&
        html`<datalist id="${LIST_ID}">${Object.keys(fields).map((name) => html`<option value="${typedFor(fields, name)}"></option>`)}</datalist>`
      }
      <p class="hint" id="f-${NAME}-hint">
        Write the field as it is called in the form, like “Topic”. An empty row counts for nothing; save to get more rows, up to
        ${MAX_CONDITIONS}. Without any, every post is sent.
      </p>
    </fieldset>
  </details>`;
}

function rowView(
  typed: TypedCondition = { field: "", is: "=", value: "" },
  row: number,
  fields: ConditionFields,
): Html {
  const parts = (input: keyof TypedCondition, label: string) => ({
    name: inputName(row, input),
    label: `${label} ${row + 1}`,
    value: input === "field" ? typedFor(fields, typed.field) : typed[input],
  });
  return html`<div class="row">
    ${textField({ ...parts("field", "Field"), autocomplete: "off", list: LIST_ID })} ${selectField(parts("is", "Condition"), KINDS)}
    ${textField({ ...parts("value", "Value"), autocomplete: "off" })}
  </div>`;
}
