import { html, type Html } from "../../foundation/html.ts";
import { jsonText, plainText } from "../../foundation/plain-text.ts";
import { addFieldAt } from "../../schemas/add-field.ts";
import type { SchemaDefinition } from "../../schemas/definition.ts";
import type { SetAside } from "../../schemas/set-aside.ts";
import { showText } from "../kit/typed-text.ts";
import { fact, valueView } from "./submission-cards.ts";

/** What an owner can do about a value that was set aside; null on pages that offer nothing. */
export interface Addable {
  readonly definition: SchemaDefinition;
  /** The address that the form which adds a field is sent to. */
  readonly action: string;
  /** The page on which all fields are edited. */
  readonly fieldsPath: string;
}

/** The values beyond the form's fields; null if there are none. */
export function setAsideCard(setAside: SetAside | null, addable: Addable | null): Html | null {
  if (setAside === null) return null;
  const { fields, dropped } = setAside;
  const names = Object.keys(fields);
  return html`<section class="card">
    <header><h2>Not among the fields of the form</h2></header>
    ${
      names.length > 0 &&
      html`<dl>
        ${names.map((path) => fact(plainText(path), html`${valueView(fields[path])}${addable !== null && addView(path, fields[path], addable)}`))}
      </dl>`
    }
    ${dropped > 0 && html`<p class="muted">${dropped === 1 ? "One more value" : `${dropped} more values`} had no room and ${dropped === 1 ? "is" : "are"} lost.</p>`}
  </section>`;
}

function addView(path: string, value: unknown, { definition, action, fieldsPath }: Addable): Html {
  const added = addFieldAt(definition, path, value);
  if (added === "declared") return html` <small class="muted">is a field by now</small>`;
  if (added === "unclear") return html` <small><a href="${fieldsPath}">Add it among the fields</a></small>`;
  const sent = plainText(path) === path ? showText(path) : jsonText(path);
  return html`<form method="post" action="${action}">
    <input type="hidden" name="name" value="${sent}" />
    <button aria-label="Add this field: ${plainText(path)}">Add this field</button>
  </form>`;
}
