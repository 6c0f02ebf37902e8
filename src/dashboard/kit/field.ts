import { FormsvcError } from "../../foundation/errors.ts";
import { html, type Html } from "../../foundation/html.ts";
import { sentence } from "./sentence.ts";

/** Problems by the name of the field. The name "" stands for the form as a whole. */
export type Problems = ReadonlyMap<string, string>;

export const NO_PROBLEMS: Problems = new Map();

/** The result of `work`; null if the feature refuses what was typed, which becomes a problem of the field. */
export function tryField<Result>(
  problems: Map<string, string>,
  field: string,
  work: () => Result,
): Result | null {
  try {
    return work();
  } catch (error) {
    problems.set(field, refusalOf(error));
    return null;
  }
}

/** The codes of errors that say what is wrong with what was typed. */
const REFUSALS: ReadonlySet<string> = new Set(["usage"]);

/** Why a feature refused what was typed, as a sentence. @param refusals the codes of errors that the page shows. @throws any other error */
export function refusalOf(error: unknown, refusals = REFUSALS): string {
  if (!(error instanceof FormsvcError) || !refusals.has(error.code)) throw error;
  return sentence(error.message);
}

/** The refusal as the problem of a field. @throws as {@link refusalOf} */
export function problemsFrom(error: unknown, field: string, refusals = REFUSALS): Problems {
  return new Map([[field, refusalOf(error, refusals)]]);
}

export interface FieldParts {
  readonly name: string;
  readonly label: string;
  readonly value: string;
  readonly hint?: string | Html;
  readonly problems?: Problems;
  /** The type of an `input`; `text` if it is missing. */
  readonly type?: "text" | "email" | "password" | "url" | "number" | "search";
  readonly autocomplete?: string;
  /** The id of a `datalist` on the page. */
  readonly list?: string;
  readonly isRequired?: boolean;
  readonly isReadOnly?: boolean;
  /** Whether the field has the focus when the page is shown. */
  readonly hasFocus?: boolean;
  /** Whether it is shown in a monospaced font, without spell checking. */
  readonly isCode?: boolean;
}

export function textField(parts: FieldParts): Html {
  const { name, value, type = "text", autocomplete, list, isReadOnly = false, isCode = false } = parts;
  return field(
    parts,
    (marks) =>
      html`<input
        type="${type}"
        name="${name}"
        value="${value}"
        ${autocomplete === undefined ? null : html` autocomplete="${autocomplete}"`}${list !== undefined && html` list="${list}"`}${isReadOnly && html` readonly`}${isCode && html` class="code" spellcheck="false" autocapitalize="off"`}${marks}
      />`,
  );
}

/** An area for a text that people read. */
export function areaField(parts: FieldParts): Html {
  return textArea(parts, html` dir="auto"`);
}

/** An area for a text that a program reads, like JSON. */
export function codeField(parts: FieldParts): Html {
  return textArea(parts, html` class="code" spellcheck="false"`);
}

function textArea(parts: FieldParts, style: Html): Html {
  return field(
    parts,
    // HTML drops one line break directly after the tag.
    (marks) => html`<textarea name="${parts.name}" ${style}${marks}>${"\n"}${parts.value}</textarea>`,
  );
}

export interface Option {
  readonly value: string;
  readonly label: string;
}

/** Makes options from labels by value, in their order. */
export function optionsOf(labels: Readonly<Record<string, string>>): readonly Option[] {
  return Object.entries(labels).map(([value, label]) => ({ value, label }));
}

export function selectField(parts: FieldParts, options: readonly Option[]): Html {
  const choices = options.map(
    ({ value, label }) =>
      html`<option value="${value}" ${value === parts.value && html` selected`}>${label}</option>`,
  );
  return selectOf(parts, html`${choices}`);
}

/** A select with options that the caller renders, like options in groups. */
export function selectOf(parts: FieldParts, options: Html): Html {
  return field(
    parts,
    (marks) =>
      html`<select name="${parts.name}" ${marks}>
        ${options}
      </select>`,
  );
}

/** An option with a text about its consequence, unless its label says it. */
export interface Choice extends Option {
  readonly about: string;
}

/** One of a few choices, each in a row with its consequence. The server ignores unknown values, so there is no problem to show. */
export function choiceField({ name, label, value, hint }: FieldParts, choices: readonly Choice[]): Html {
  const id = fieldId(name);
  const rows = choices.map(
    (choice) =>
      html`<label class="choice">
        <input type="radio" name="${name}" value="${choice.value}" ${choice.value === value && html` checked`} />
        <b>${choice.label}</b>${choice.about !== "" && html`<small>${choice.about}</small>`}
      </label>`,
  );
  return html`<fieldset class="field choose" id="${id}"${hint !== undefined && html` aria-describedby="${id}-hint"`}>
    <legend>${label}</legend>
    <div>${rows}</div>
    ${hint === undefined ? null : html`<p class="hint" id="${id}-hint">${hint}</p>`}
  </fieldset>`;
}

export function checkField({ name, label, value, hint }: FieldParts): Html {
  const id = `${fieldId(name)}-hint`;
  return html`<div class="field">
    <label class="check"
      ><input type="checkbox" name="${name}" value="on" ${value === "on" && html` checked`}${hint !== undefined && html` aria-describedby="${id}"`} />
      <span>${label}</span></label
    >${hint === undefined ? null : html`<p class="hint" id="${id}">${hint}</p>`}
  </div>`;
}

/** Moves the keyboard to what was wrong when the page is shown, past the navigation, so that a screen reader reads it first. */
export const FOCUSED = html`tabindex="-1" autofocus`;

/**
 * All problems, with a link to the field of each. It stands first and has the focus.
 *
 * @param labels the labels of fields whose problems do not name them, by the names of the fields
 */
export function problemSummary(
  problems: Problems,
  labels: Readonly<Record<string, string>> = {},
): Html | null {
  if (problems.size === 0) return null;
  const lines = [...problems].map(([name, text]) => {
    const said = Object.hasOwn(labels, name) ? `${labels[name]}: ${text}` : text;
    return name === "" ? html`<li>${said}</li>` : html`<li><a href="#${fieldId(name)}">${said}</a></li>`;
  });
  return html`<div class="notice bad" ${FOCUSED} role="alert">
    <b>Nothing was saved yet.</b>
    <ul>
      ${lines}
    </ul>
  </div>`;
}

function field(parts: FieldParts, control: (marks: Html) => Html): Html {
  const { name, label, hint, problems = NO_PROBLEMS, isRequired = false, hasFocus = false } = parts;
  const id = fieldId(name);
  const problem = problems.get(name);
  const described = [hint === undefined ? "" : `${id}-hint`, problem === undefined ? "" : `${id}-problem`];
  const describedBy = described.filter((each) => each !== "").join(" ");
  const marks = html` id="${id}"${isRequired && html` required`}${hasFocus && html` autofocus`}${problem !== undefined && html` aria-invalid="true"`}${
    describedBy !== "" && html` aria-describedby="${describedBy}"`
  }`;
  return html`<div class="field">
    <label for="${id}">${label}</label>${control(marks)}${
      problem === undefined ? null : html`<p class="problem" id="${id}-problem">${problem}</p>`
    }${hint === undefined ? null : html`<p class="hint" id="${id}-hint">${hint}</p>`}
  </div>`;
}

function fieldId(name: string): string {
  return `f-${name.replace(/[^\w-]/g, "-")}`;
}
