import { html, type Html } from "../../foundation/html.ts";

const ACCOUNT = "/dashboard/account";

/** Shows recovery codes, only once. */
export function recoveryCodesView(codes: readonly string[], heading: string): Html {
  return html`${accountCrumbs}
    <div class="head"><h1>${heading}</h1></div>
    <section class="once" aria-labelledby="codes">
      <h2 id="codes">Your ten recovery codes</h2>
      <p>
        <b>Keep them now: they are shown this once and cannot be shown again.</b> Each of them signs you in once when you do not have the
        app or the passkey. Print them, or put them into your password manager.
      </p>
      <div class="secret">
        <pre id="recovery-codes">${codes.join("\n")}</pre>
        <button type="button" data-copy="recovery-codes">Copy</button>
      </div>
      <p><a class="button primary" href="${ACCOUNT}">I have kept them</a></p>
    </section>`;
}

export const accountCrumbs = html`<p class="crumbs"><a href="${ACCOUNT}">← Account</a></p>`;
