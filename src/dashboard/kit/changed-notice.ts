import { html, type Html } from "../../foundation/html.ts";

/** A notice for the second of two people who edit the same thing. */
export function changedNotice(changed: readonly string[]): Html {
  return html`<div class="notice warn" role="alert">
    <b>Somebody else changed this while you were editing. Nothing of yours was saved yet.</b>
    <ul>
      ${changed.map((line) => html`<li dir="auto">Now ${line}</li>`)}
    </ul>
    <p>The form still has what you typed. Save it again to put it in the place of theirs.</p>
  </div>`;
}
