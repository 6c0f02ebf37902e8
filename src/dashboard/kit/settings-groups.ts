import { html, type Html } from "../../foundation/html.ts";

/** Settings that belong together, and what they are about. */
export interface SettingsGroup {
  readonly title: string;
  readonly about: string | Html;
}

export function settingsGroup(group: SettingsGroup, fields: Html): Html {
  return settingsPart(group, html`<div class="card"><div class="body">${fields}</div></div>`);
}

/** The same with a card that the caller writes. */
export function settingsPart({ title, about }: SettingsGroup, card: Html): Html {
  return html`<section class="part">
    <header>
      <h2>${title}</h2>
      <p>${about}</p>
    </header>
    ${card}
  </section>`;
}

/**
 * Sticks to the lower edge of a form with settings. The script puts the number of unsaved changes in the place of `text`, and then
 * shows the way back.
 * @param path the page as it is stored
 */
export function saveBar(path: string, text: string, buttons: Html): Html {
  return html`<div class="savebar">
    <span class="muted" role="status" data-unsaved-count>${text}</span>
    <a class="button quiet" href="${path}" data-undo hidden>Undo them</a>
    ${buttons}
  </div>`;
}
