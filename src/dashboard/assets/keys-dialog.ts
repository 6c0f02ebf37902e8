import { html } from "../../foundation/html.ts";

/** The keys that the script in `src/browser/dashboard/keys.ts` listens to. */
const KEYS: readonly (readonly [keys: readonly string[], meaning: string])[] = [
  [["j", "k"], "Next and previous row, or submission"],
  [["o", "Enter"], "Open the row"],
  [["x"], "Select the row"],
  [["e"], "Mark as done"],
  [["a"], "Assign to somebody"],
  [["s"], "Mark as spam"],
  [["h"], "Mark as not spam"],
  [["u"], "Mark as unread"],
  [["/"], "Search"],
  [["?"], "Show these keys"],
];

/** The button that opens the list of keys. */
export const keysButton = html`<span class="needs-script">
  · <button type="button" data-opens="keys" data-key="?">Keys <kbd>?</kbd></button></span
>`;

/** A checkbox that switches the keys off, for this browser only. */
export const keysSetting = html`<label class="check needs-script"
  ><input type="checkbox" data-keys-setting /> <span>Use keys like j, k and x in this browser</span></label
>`;

export const keysDialog = html`<dialog id="keys" aria-labelledby="keys-title">
  <form method="dialog">
    <h2 id="keys-title">Keys</h2>
    <button>Close</button>
  </form>
  <table>
    ${KEYS.map(
      ([keys, meaning]) =>
        html`<tr>
          <th scope="row">${keys.map((key) => html`<kbd>${key}</kbd> `)}</th>
          <td>${meaning}</td>
        </tr>`,
    )}
  </table>
  ${keysSetting}
</dialog>`;
