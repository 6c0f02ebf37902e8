import { html, type Html } from "../../foundation/html.ts";

/** The title of related settings, and what they are about. */
export interface SettingsGroup {
  readonly title: string;
  readonly about: string | Html;
}

export function settingsGroup(group: SettingsGroup, fields: Html): Html {
  return settingsPart(group, html`<div class="card"><div class="body">${fields}</div></div>`);
}

/** A group of settings whose card the caller renders. */
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
 * A bar that stays at the lower edge of a form with settings. The script replaces `text` by the number of unsaved changes, and then shows
 * the link that discards them.
 *
 * @param path the path of the page with the stored settings
 */
export function saveBar(path: string, text: string, buttons: Html): Html {
  return html`<div class="savebar">
    <span class="muted" role="status" data-unsaved-count>${text}</span>
    <a class="button quiet" href="${path}" data-undo hidden>Undo</a>
    ${buttons}
  </div>`;
}
