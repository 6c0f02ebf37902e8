import { html, type Html } from "../../foundation/html.ts";
import { type FieldParts, textField } from "./field.ts";

/** Colours to choose from by name, because few people know colours by numbers. Text on each of them is black or white. */
const COLOURS: readonly (readonly [value: string, name: string])[] = [
  ["#8a1c4a", "Berry"],
  ["#b3261e", "Red"],
  ["#c2570c", "Orange"],
  ["#8a6d00", "Mustard"],
  ["#2c6e2f", "Green"],
  ["#0b6e5f", "Teal"],
  ["#1a5fb4", "Blue"],
  ["#1f2a44", "Navy"],
  ["#6b3fa0", "Violet"],
  ["#6b4226", "Brown"],
  ["#333333", "Dark grey"],
];
const LIST_ID = "colours";

/** An input for a colour as #rrggbb, which can be chosen by a name or typed. Use it only once on a page. */
export function colourField(parts: Omit<FieldParts, "list" | "autocomplete">): Html {
  return html`${textField({ ...parts, list: LIST_ID, autocomplete: "off" })}
    <datalist id="${LIST_ID}">
      ${COLOURS.map(([value, name]) => html`<option value="${value}" label="${name}"></option>`)}
    </datalist>`;
}
