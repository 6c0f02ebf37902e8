import { isAllowable } from "../../endpoints/allowed-origin.ts";
import type { Endpoint } from "../../endpoints/endpoint.ts";
import type { RefusedOrigin } from "../../endpoints/refused-origins.ts";
import { html, type Html } from "../../foundation/html.ts";
import { pathOf } from "./endpoint-frame.ts";
import { exactTime } from "../kit/time.ts";

/** Sites whose posts this form refused, for its settings; null if there are none. `refusedSiteForms` has the forms of their buttons. */
export function refusedSites(refused: readonly RefusedOrigin[]): Html | null {
  if (refused.length === 0) return null;
  return html`<div class="field">
    <b id="refused-sites">Sites that were refused</b>
    <ul class="rows-list" aria-labelledby="refused-sites">
      ${refused.map(siteRow)}
    </ul>
  </div>`;
}

/** The forms of the buttons in {@link refusedSites}. They stand next to the form of the settings, because forms cannot be nested. */
export function refusedSiteForms(endpoint: Endpoint, refused: readonly RefusedOrigin[]): readonly Html[] {
  return refused.map(
    ({ origin }, index) =>
      html`<form id="${formId(index)}" method="post" action="${pathOf(endpoint, "/origins")}">
        <input type="hidden" name="origin" value="${origin}" /><input type="hidden" name="from" value="settings" />
      </form>`,
  );
}

function siteRow({ origin, posts, lastAt, ignored }: RefusedOrigin, index: number): Html {
  const last = posts === 1 ? "One post was refused on " : `${posts} posts were refused, the last one on `;
  const site = html`<span class="hidden-text"> ${origin}</span>`;
  const button = (verb: string, label: string): Html =>
    html`<button form="${formId(index)}" name="do" value="${verb}">${label}${site}</button>`;
  return html`<li class="${ignored ? "" : "warn"}">
    <span
      ><bdi class="mono">${origin}</bdi
      ><small>${last}${exactTime(lastAt)}${ignored && ". You said that it is not yours, so its posts are not kept."}</small></span
    >
    <span class="actions">
      ${ignored ? button("heed", "It is ours") : html`${isAllowable(origin) && button("allow", "Allow this site")} ${button("ignore", "Not ours")}`}
    </span>
  </li>`;
}

function formId(index: number): string {
  return `refused-${index}`;
}
