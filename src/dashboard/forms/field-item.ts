import { html, type Html } from "../../foundation/html.ts";
import { GRIP, icon } from "../kit/icons.ts";
import { checkField, type Option, type Problems, selectField, textField } from "../kit/field.ts";
import { FIELD_KINDS, type FieldKind, inputsOf, KIND_INPUTS, KIND_LABELS, kindOfRow } from "./field-kinds.ts";
import { type ItemParts, ruleInputs } from "./field-rules.ts";
import { calledOf, numberedName } from "./field-row.ts";
import { rulesInWords } from "./field-words.ts";
import { type FieldRow, inputName, ROW_LABELS, type RowInput } from "./schema-words.ts";

interface Item {
  readonly row: FieldRow;
  readonly index: number;
  readonly problems: Problems;
  readonly path: string;
  /** The number of all fields. */
  readonly count: number;
  readonly isOneOpen: boolean;
  readonly isOpen: boolean;
  /** The control that has the keyboard focus when the page is shown. */
  readonly focus: "up" | "down" | "summary" | "label" | "kind" | null;
}

/** One field: a row that summarises it and can be opened to change it. */
export function fieldItem(item: Item): Html {
  const { row, index, isOpen, isOneOpen, focus } = item;
  const typed = calledOf(row);
  const called = typed === "" ? numberedName(index) : typed;
  const isOptional = row.required !== "on" && kindOfRow(row) !== "consent";
  return html`<li id="field-${index}" data-field="${index}">
    <span class="grip" aria-hidden="true" data-grip>${GRIP}</span>
    <details ${isOneOpen && html` name="field"`}${isOpen && html` open`}>
      <summary${focus === "summary" && html` autofocus`}>
        <span><b><bdi>${called}</bdi></b>${isOptional && html` <span class="muted">(optional)</span>`}</span>
        <small><bdi>${rulesInWords(row)}</bdi></small>
        <span class="open" aria-hidden="true"></span>
      </summary>
      ${editor(item, called)}
    </details>
    <span class="moves">${moveButton(item, "up", called)}${moveButton(item, "down", called)}</span>
  </li>`;
}

/** A button that moves the field. Without script, the pressed button gets the focus again when the page comes back. */
function moveButton({ index, count, focus }: Item, way: "up" | "down", called: string): Html {
  const isLast = way === "up" ? index === 0 : index === count - 1;
  return html`<button class="square" name="action" value="${way}-${index}" formnovalidate aria-label="Move ${way}: ${called}"${
    isLast && html` disabled`
  }${focus === way && html` autofocus`}>${icon(way)}</button>`;
}

function editor({ row, index, problems, path, focus }: Item, called: string): Html {
  const kind = kindOfRow(row);
  const parts: ItemParts = { row, index, problems };
  const label = {
    ...inputParts(parts, "label"),
    hint: row.name ? "What visitors read; empty for the name of the input" : "What visitors read",
    hasFocus: focus === "label",
  };
  return html`<div class="edit">
    ${textField(label)}
    <div class="kind">
      ${selectField({ ...inputParts(parts, "kind"), value: kind, hasFocus: focus === "kind" }, KINDS)}
      <span data-retype>${rowButton({ action: `retype-${index}`, text: "Show its rules", of: called, to: path })}</span>
    </div>
    ${ruleInputs(parts, KIND_INPUTS[kind].plain)}
    ${kind !== "consent" && html`<div class="all">${checkField({ ...inputParts(parts, "required"), value: row.required ?? "" })}</div>`}
    ${fold(parts, kind)} ${keptInputs(row, index, kind)}
    <div class="foot all">
      ${rowButton({ action: `done-${index}`, text: "Done", of: called, to: path })}
      ${rowButton({ action: `remove-${index}`, text: "Remove this field", of: called, to: path }, "quiet danger")}
    </div>
  </div>`;
}

const KINDS: readonly Option[] = FIELD_KINDS.map((value) => ({ value, label: KIND_LABELS[value] }));

/** The part that most people never need, folded. */
function fold(parts: ItemParts, kind: FieldKind): Html {
  const { folded, rare } = KIND_INPUTS[kind];
  const shown = [...folded, ...rare.filter((input) => (parts.row[input] ?? "") !== "")];
  const inside: readonly RowInput[] = ["name", ...shown, "description"];
  const isWrong = inside.some((input) => parts.problems.has(inputName(parts.index, input)));
  return html`<details class="all"${isWrong && html` open`}>
    <summary class="fold">${foldTitle(shown)}</summary>
    <div class="edit">${ruleInputs(parts, inside)}</div>
  </details>`;
}

function foldTitle(shown: readonly RowInput[]): string {
  const named = ["Name in the page", ...shown.map((input) => ROW_LABELS[input].toLowerCase()), "note"];
  return named.join(", ");
}

function inputParts({ row, index, problems }: ItemParts, input: RowInput) {
  return { name: inputName(index, input), label: ROW_LABELS[input], value: row[input] ?? "", problems };
}

const ALWAYS: readonly RowInput[] = ["label", "kind", "name", "description"];

/** Hidden inputs with what was typed for another kind, in case the kind is changed back. */
function keptInputs(row: FieldRow, index: number, kind: FieldKind): readonly Html[] {
  const required: readonly RowInput[] = kind === "consent" ? [] : ["required"];
  const shown: ReadonlySet<string> = new Set([...ALWAYS, ...required, ...inputsOf(kind), "type", "format"]);
  return Object.entries(row)
    .filter(([input, value]) => !shown.has(input) && value !== "")
    .map(
      ([input, value]) =>
        html`<input type="hidden" name="${inputName(index, input as RowInput)}" value="${value}" />`,
    );
}

interface RowButton {
  readonly action: string;
  readonly text: string;
  /** The name of the field that it acts on, for people who hear the page. */
  readonly of: string;
  readonly to: string;
}

function rowButton({ action, text, of, to }: RowButton, style = ""): Html {
  return html`<button class="small ${style}" name="action" value="${action}" formaction="${to}" formnovalidate>${text}<span class="hidden-text"> ${of}</span></button>`;
}
