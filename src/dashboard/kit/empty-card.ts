import { html, type Html } from "../../foundation/html.ts";

/** Stands in place of an empty list: says why it is empty and what to do next. */
export function emptyCard(heading: string, text: Html | string, actions: Html): Html {
  return html`<div class="card empty">
    <h2>${heading}</h2>
    <p>${text}</p>
    <p class="choices">${actions}</p>
  </div>`;
}
