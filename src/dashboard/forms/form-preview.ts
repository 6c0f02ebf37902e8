import { html, type Html } from "../../foundation/html.ts";
import type { SchemaDefinition } from "../../schemas/definition.ts";
import type { FieldDefinition, StringFormat } from "../../schemas/field-definition.ts";
import { isLongText } from "../../schemas/form-inputs.ts";
import { labelAt } from "../../schemas/field-label.ts";

const INPUT_TYPES: Readonly<Record<StringFormat, string>> = {
  email: "email",
  url: "url",
  date: "date",
  phone: "tel",
};

/**
 * What visitors see of the form. Its inputs have no names and cannot be reached, so they are no part of the page's own form.
 *
 * @param definition null while something is wrong with the fields
 */
export function formPreview(definition: SchemaDefinition | null): Html {
  return html`<aside class="card form-preview" aria-labelledby="preview" data-preview="${definition === null ? "wrong" : "right"}">
    <header>
      <h2 id="preview">What visitors see</h2>
      <span class="muted">preview</span>
    </header>
    ${
      definition === null
        ? html`<p class="muted body">Once the fields are right, the form is shown here.</p>`
        : html`<div class="phone-frame" inert>
            <div class="sheet">
              ${Object.entries(definition).map(([name, field]) => fieldView(definition, [name], field))}
              <div><span class="button primary">Send</span></div>
            </div>
          </div>`
    }
  </aside>`;
}

function fieldView(definition: SchemaDefinition, path: readonly string[], field: FieldDefinition): Html {
  if (field.type === "object")
    return html`${Object.entries(field.properties ?? {}).map(([name, member]) => fieldView(definition, [...path, name], member))}`;
  const optional = field.required !== true && html` <span class="muted">(optional)</span>`;
  const label = html`<bdi>${labelAt(definition, path, " ")}</bdi>`;
  if (field.type === "boolean")
    return html`<div class="field"><label class="check"><input type="checkbox" /> <span>${label}</span></label></div>`;
  return html`<div class="field"><label><span>${label}${optional}</span>${control(path.at(-1) ?? "", field)}</label></div>`;
}

function control(name: string, field: Exclude<FieldDefinition, { type: "object" | "boolean" }>): Html {
  if (field.type === "file") return html`<input type="file" />`;
  if (field.type === "array") {
    const { items } = field;
    const choices = items !== undefined && "enum" in items ? (items.enum ?? []) : [];
    return choices.length === 0
      ? html`<input />`
      : html`<select multiple>${choices.map((each) => html`<option>${String(each)}</option>`)}</select>`;
  }
  if (field.enum !== undefined)
    return html`<select><option>Please choose</option>${field.enum.map((each) => html`<option>${each}</option>`)}</select>`;
  if (field.type === "number") return html`<input type="number" />`;
  if (field.format !== undefined) return html`<input type="${INPUT_TYPES[field.format]}" />`;
  return isLongText(name, field) ? html`<textarea></textarea>` : html`<input type="text" />`;
}
