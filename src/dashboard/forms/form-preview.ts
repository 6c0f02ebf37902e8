import { html, type Html } from "../../foundation/html.ts";
import { directionOf, type Language } from "../../languages/language.ts";
import { type Wording, wordingIn } from "../../languages/wording.ts";
import type { SchemaDefinition } from "../../schemas/definition.ts";
import type { FieldDefinition, StringFormat } from "../../schemas/field-definition.ts";
import {
  askedFields,
  isGroup,
  isLongText,
  isNeeded,
  leastRows,
  MAX_BOXES,
  rowsOf,
} from "../../schemas/form-inputs.ts";
import { visitorLabel } from "../../schemas/field-label.ts";
import { fileHint } from "../../schemas/file-hint.ts";
import type { FileBounds } from "../../schemas/posted-file.ts";

const INPUT_TYPES: Readonly<Record<StringFormat, string>> = {
  email: "email",
  url: "url",
  date: "date",
  phone: "tel",
};

export interface PreviewParts {
  /** The language of the form's visitors; null leaves it to their browsers, and the preview is in English. */
  readonly language: Language | null;
  readonly fileBounds: FileBounds;
}

/**
 * Shows what visitors see of the form. Its inputs have no names and cannot get the focus, so they are no part of the page's own form.
 *
 * @param definition null while the fields have problems
 */
export function formPreview(
  definition: SchemaDefinition | null,
  { language, fileBounds }: PreviewParts,
): Html {
  const wording = wordingIn(language ?? "en");
  return html`<aside class="card form-preview" aria-labelledby="preview" data-preview="${definition === null ? "wrong" : "right"}">
    <header>
      <h2 id="preview">What visitors see</h2>
      <span class="muted">preview</span>
    </header>
    ${
      definition === null
        ? html`<p class="muted body">Once the fields are right, the form is shown here.</p>`
        : html`<div class="phone-frame" lang="${wording.language}" dir="${directionOf(wording.language)}" inert>
            <div class="sheet">
              ${Object.entries(askedFields(definition)).map(([name, field]) => fieldView({ fields: definition, isAsked: true, wording, fileBounds }, name, field))}
              <div><span class="button primary">${wording.text("send")}</span></div>
            </div>
          </div>`
    }
  </aside>`;
}

interface Surroundings {
  readonly fields: SchemaDefinition;
  /** False in a group or row that may stay empty as a whole. */
  readonly isAsked: boolean;
  readonly wording: Wording;
  readonly fileBounds: FileBounds;
}

function fieldView(around: Surroundings, name: string, field: FieldDefinition): Html {
  const { fields, isAsked, wording } = around;
  const label = html`<bdi>${visitorLabel(fields, [name])}</bdi>`;
  if (isGroup(field)) {
    const inside = { ...around, fields: field.properties, isAsked: isAsked && field.required === true };
    return groupView(html`${label}${field.required !== true && optionalMark(wording)}`, inside);
  }
  if (field.type === "array" && isGroup(field.items)) {
    const { properties } = field.items;
    return html`${Array.from({ length: rowsOf(field) }, (_, row) => {
      const isLeast = row < leastRows(field);
      const inside = { ...around, fields: properties, isAsked: isAsked && isLeast };
      return groupView(html`${label} ${row + 1}${!isLeast && optionalMark(wording)}`, inside);
    })}`;
  }
  // No page has an input for a group without members.
  if (field.type === "object") return html``;
  const optional = !isNeeded(field) && optionalMark(wording);
  if (field.type === "boolean")
    return html`<div class="field">${box(label, isAsked && field.default === true)}</div>`;
  const choices = choicesOf(field);
  if (choices.length > 0 && choices.length <= MAX_BOXES)
    return html`<fieldset><legend>${label}${optional}</legend>${choices.map((each) => box(html`${each}`))}</fieldset>`;
  return html`<div class="field"><label><span>${label}${optional}</span>${control(name, field)}</label>${field.type === "file" && html`<p class="hint">${fileHint(field, around.fileBounds, wording)}</p>`}</div>`;
}

function optionalMark(wording: Wording): Html {
  return html` <span class="muted">(${wording.text("optional")})</span>`;
}

function groupView(legend: Html, inside: Surroundings): Html {
  return html`<fieldset>
    <legend>${legend}</legend>
    ${Object.entries(inside.fields).map(([name, member]) => fieldView(inside, name, member))}
  </fieldset>`;
}

function box(label: Html, isChecked = false): Html {
  return html`<label class="check"><input type="checkbox" ${isChecked && html` checked`} /> <span>${label}</span></label>`;
}

/** The options of a field of which several may be chosen. */
function choicesOf(field: FieldDefinition): readonly string[] {
  if (field.type !== "array" || field.items === undefined || !("enum" in field.items)) return [];
  return (field.items.enum ?? []).map(String);
}

function control(name: string, field: Exclude<FieldDefinition, { type: "object" | "boolean" }>): Html {
  if (field.type === "file") return html`<input type="file" />`;
  if (field.type === "array") {
    const choices = choicesOf(field);
    return choices.length === 0
      ? html`<input />`
      : html`<select multiple>${choices.map((each) => html`<option>${each}</option>`)}</select>`;
  }
  if (field.enum !== undefined)
    return html`<select><option>–</option>${field.enum.map((each) => html`<option>${each}</option>`)}</select>`;
  if (field.type === "number") return html`<input type="number" />`;
  if (field.format !== undefined) return html`<input type="${INPUT_TYPES[field.format]}" />`;
  return isLongText(name, field) ? html`<textarea></textarea>` : html`<input type="text" />`;
}
