import { html, type Html } from "../../foundation/html.ts";
import type { Passkey } from "../../sessions/passkey-store.ts";
import { settingsPart } from "../kit/settings-groups.ts";
import { time } from "../kit/time.ts";
import type { PasskeySupport } from "./relying-party.ts";

const ACCOUNT = "/dashboard/account";
const PATH = `${ACCOUNT}/passkeys`;

export interface PasskeysState {
  readonly passkeys: readonly Passkey[];
  readonly support: PasskeySupport;
  /** Whether a passkey is enough to sign in; if not, it is only the second factor. */
  readonly isAlone: boolean;
  /** The number of recovery codes left; null for an account with an app, which shows them elsewhere. */
  readonly recoveryCodes: number | null;
}

/** A person's passkeys, on the page of the account. */
export function passkeysPart({ passkeys, support, isAlone, recoveryCodes }: PasskeysState): Html {
  const about = isAlone
    ? "Your device signs you in, by a finger, a face or a PIN, in the place of the password and the code."
    : "After the issuer, your device is asked, by a finger, a face or a PIN.";
  return settingsPart(
    { title: "Passkeys", about },
    html`<div class="card">
      ${passkeys.length > 0 && rowsView(passkeys, support)}
      <div class="body">
        ${passkeys.length > 0 && html`<p>A password alone signs you in no longer.${codesLine(recoveryCodes)}</p>`}
        ${
          support.why === null
            ? html`<p><a class="button" href="${PATH}/new">Add a passkey</a></p>`
            : html`<p class="hint">${support.why}</p>`
        }
      </div>
    </div>`,
  );
}

function codesLine(left: number | null): Html | null {
  if (left === null) return null;
  return html` Of your recovery codes, ${left} are left. <a href="${ACCOUNT}/second-factor/codes">Make new ones</a>`;
}

function rowsView(passkeys: readonly Passkey[], { party }: PasskeySupport): Html {
  return html`<div class="scroll folds" tabindex="0" role="region" aria-label="Passkeys">
    <table>
      <thead>
        <tr><th scope="col">Passkey</th><th scope="col">Added</th><th scope="col">Last used</th><th scope="col" class="right"><span class="hidden-text">Change</span></th></tr>
      </thead>
      <tbody>
        ${passkeys.map(
          ({ id, name, host, createdAt, usedAt }) => html`<tr>
            <th scope="row"><bdi>${name}</bdi>${host !== party?.host && html` <span class="pill">for ${host} only</span>`}</th>
            <td data-label="Added">${time(createdAt)}</td>
            <td data-label="Last used">${usedAt === null ? "never" : time(usedAt)}</td>
            <td class="right"><a href="${PATH}/${id}">Change<span class="hidden-text"> ${name}</span></a></td>
          </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}
