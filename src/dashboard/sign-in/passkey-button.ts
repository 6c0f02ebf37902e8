import { html, type Html } from "../../foundation/html.ts";

/** The address that starts a step with a passkey. */
const ASK_PATH = "/dashboard/sign-in/passkey/ask";

/**
 * A button inside a form. The page's script asks the device for the passkey, and sends the form with the answer. The button is hidden
 * without script and in a browser without passkeys.
 *
 * @param use `alone` or `second factor`
 */
export function passkeyButton(use: string, label: string, look: "plain" | "primary" = "plain"): Html {
  return html`<div class="needs-script" data-passkey="${ASK_PATH}" data-use="${use}">
    <input type="hidden" name="passkey" value="" />
    <p><button type="button" ${look === "primary" && html` class="primary"`}>${label}</button></p>
    <p class="problem" role="alert" hidden></p>
  </div>`;
}
