import { html, type Html } from "../../foundation/html.ts";
import { type Scope, SCOPES } from "../../operations/access.ts";
import { SCOPE_WORDS } from "./scope-words.ts";

/** The scopes that a form sent, in the order of the list. */
export function scopesOf(form: URLSearchParams): readonly Scope[] {
  const sent = form.getAll("scopes");
  return SCOPES.filter((scope) => sent.includes(scope));
}

/** A checkbox for each scope. @param hasOperator whether the operator's scope is offered */
export function scopeChoices(chosen: readonly Scope[], hasOperator: boolean): Html {
  const offered = SCOPES.filter((scope) => scope !== "operator" || hasOperator);
  return html`<fieldset class="field choose">
    <legend>What it may do</legend>
    <div>
      ${offered.map(
        (scope) => html`<label class="choice">
          <input type="checkbox" name="scopes" value="${scope}" ${chosen.includes(scope) && html` checked`} />
          <b>${SCOPE_WORDS[scope]}</b><small><code>${scope}</code></small>
        </label>`,
      )}
    </div>
  </fieldset>`;
}
