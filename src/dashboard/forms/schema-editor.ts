import { html, type Html } from "../../foundation/html.ts";
import { icon } from "../kit/icons.ts";
import { codeField, type Problems } from "../kit/field.ts";
import { FIELD_KINDS, KIND_ICONS, KIND_LABELS } from "./field-kinds.ts";
import { fieldItem } from "./field-item.ts";
import { calledOf } from "./field-row.ts";
import { formPreview, type PreviewParts } from "./form-preview.ts";
import { readRowAction, type SchemaDraft, shownOf } from "./schema-draft.ts";
import { JSON_INPUT } from "./schema-form.ts";
import type { FieldRow } from "./schema-words.ts";

interface EditorParts {
  readonly draft: SchemaDraft;
  readonly preview: PreviewParts;
  readonly problems: Problems;
  /** The path that the form is sent to. Its buttons add the anchor of what they changed. */
  readonly path: string;
  /** The button that was pressed; it decides which control gets the focus. */
  readonly action?: string;
  /** Hidden inputs that change together with the fields. */
  readonly beside?: Html;
}

/**
 * The inputs and buttons of a schema next to a preview of the form. They are for use inside a form. Each button sends the form, and the
 * page comes back with everything that was typed.
 */
export function builder(
  parts: EditorParts,
  { above = null, below = null }: { readonly above?: Html | null; readonly below?: Html | null },
): Html {
  return html`<div class="build">
    <div class="stack">${above}${schemaEditor(parts)}${below}</div>
    ${formPreview(shownOf(parts.draft), parts.preview)}
  </div>`;
}

function schemaEditor(parts: EditorParts): Html {
  return parts.draft.view === "json"
    ? jsonEditor(parts.draft.json, parts)
    : fieldsEditor(parts.draft.rows, parts);
}

/** A hidden first button of the form, because the Enter key presses the first button. It does what the form is for. */
export function enterButton(action: string): Html {
  return html`<button class="hidden-text" name="action" value="${action}" tabindex="-1" aria-hidden="true">
    Enter
  </button>`;
}

function fieldsEditor(rows: readonly FieldRow[], { problems, path, action = "", beside }: EditorParts): Html {
  const focus = focusAfter(action, rows.length);
  const wrong = rows.map((_row, index) => hasProblem(problems, index));
  // Only one row can be open at a time, unless several have problems.
  const isOneOpen = wrong.filter(Boolean).length + (focus?.isOpen === true ? 1 : 0) <= 1;
  return html`<p class="hidden-text" role="status" data-say>${newsOf(action, rows)}</p>
    <section class="card" aria-labelledby="fields" data-fields>
      <header>
        <h2 id="fields">Fields</h2>
        <span class="muted">${countOf(rows.length)}</span>
        ${viewButton("json", "Edit as JSON", path)}
      </header>
      <input type="hidden" name="view" value="form" />${beside}
      ${rows.length === 0 && html`<p class="body muted">No fields yet. Add the first one below.</p>`}
      <ol class="fields">
        ${rows.map((row, index) =>
          fieldItem({
            row,
            index,
            problems,
            path,
            count: rows.length,
            isOneOpen,
            isOpen: wrong[index] === true || (focus?.isOpen === true && focus.row === index),
            focus: focus?.row === index ? focus.control : null,
          }),
        )}
      </ol>
      <details class="adder" open>
        <summary>Add a field</summary>
        <div class="kinds">
          ${FIELD_KINDS.map((kind) => html`<button name="action" value="add-${kind}" formnovalidate>${icon(KIND_ICONS[kind])}${KIND_LABELS[kind]}</button>`)}
        </div>
      </details>
    </section>`;
}

function jsonEditor(json: string, { problems, path, beside }: EditorParts): Html {
  const hint = html`Field names with their rules. The properties are the same as in the form, and
    <code>formsvc schema check</code> checks the same.`;
  return html`<section class="card" aria-labelledby="fields">
    <header>
      <h2 id="fields">Fields, as JSON</h2>
      ${viewButton("form", "Edit as a form", path)}
    </header>
    <div class="body schema">
      <input type="hidden" name="view" value="json" />${beside}
      ${codeField({ name: JSON_INPUT, label: "Schema", value: json, hint, problems })}
    </div>
  </section>`;
}

function viewButton(action: string, text: string, path: string): Html {
  return html`<button class="quiet" name="action" value="${action}" formaction="${path}#fields" formnovalidate>${text}</button>`;
}

function countOf(count: number): string {
  return count === 1 ? "1 field" : `${count}, in the order visitors see`;
}

/** The control that gets the focus after a button was pressed. */
interface Focus {
  readonly row: number;
  readonly control: "up" | "down" | "summary" | "label" | "kind";
  readonly isOpen: boolean;
}

function focusAfter(action: string, count: number): Focus | null {
  if (action.startsWith("add-")) return { row: count - 1, control: "label", isOpen: true };
  // The removed row is not counted any more.
  const done = readRowAction(action, action.startsWith("remove") ? count + 1 : count);
  if (done === null) return null;
  const { verb, at, to } = done;
  if (verb === "remove") return { row: Math.min(at, count - 1), control: "summary", isOpen: false };
  if (verb === "retype") return { row: at, control: "kind", isOpen: true };
  if (verb === "done" || verb === "move") return { row: to, control: "summary", isOpen: false };
  // At either end only the other button can be pressed.
  if (to === 0) return { row: to, control: "down", isOpen: false };
  return { row: to, control: to === count - 1 ? "up" : verb, isOpen: false };
}

/** Says what a button did, for people who hear the page. */
function newsOf(action: string, rows: readonly FieldRow[]): string {
  if (action.startsWith("add-")) return `A field was added at place ${rows.length}.`;
  if (action.startsWith("remove-")) return "The field was removed.";
  const done = readRowAction(action, rows.length);
  if (done === null || !["up", "down", "move"].includes(done.verb)) return "";
  const called = calledOf(rows[done.to] ?? {});
  return `${called === "" ? "The field" : called} is now at place ${done.to + 1} of ${rows.length}.`;
}

function hasProblem(problems: Problems, index: number): boolean {
  return [...problems.keys()].some((name) => name.startsWith(`f.${index}.`));
}
