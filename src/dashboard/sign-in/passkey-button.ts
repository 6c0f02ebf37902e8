import { html, type Html } from "../../foundation/html.ts";

/** What a step with a passkey begins with. */
export const ASK_PATH = "/dashboard/sign-in/passkey/ask";

/**
 * In a form: the button asks the device by the page's script, which then sends the form with the answer. Without script it is hidden, and so
 * it is in a browser that knows no passkeys.
 *
 * @param use `alone` or `second factor`
 */
export function passkeyButton(use: string, label: string, isPrimary = false): Html {
  return html`<div class="needs-script" data-passkey="${ASK_PATH}" data-use="${use}">
    <input type="hidden" name="passkey" value="" />
    <p><button type="button" ${isPrimary && html` class="primary"`}>${label}</button></p>
    <p class="problem" role="alert" hidden></p>
  </div>`;
}
