import { html, type Html } from "../../foundation/html.ts";
import type { LinkPurpose } from "../../sessions/mailed-link.ts";
import { PASSWORD_HINT } from "./entrance.ts";
import { textField } from "../kit/field.ts";
import { passkeyButton } from "./passkey-button.ts";
import { problemView } from "./retry.ts";

interface Entry {
  /** This and the next are paths below `/dashboard`: of the page that asks for an address, and of the page that the letter links to. */
  readonly path: string;
  readonly linkPath: string;
  readonly title: string;
  readonly linkTitle: string;
  readonly intro: string;
  readonly sent: string;
  readonly chosen: string;
}

export const ENTRIES: Readonly<Record<LinkPurpose, Entry>> = {
  "sign-up": {
    path: "/sign-up",
    linkPath: "/sign-up/confirm",
    title: "Sign up",
    linkTitle: "Choose a password",
    intro: "You get an e-mail with a link. On the page that it leads to, you choose your password.",
    sent: "An e-mail is on its way to the address that you gave. Open its link within 24 hours to choose your password.",
    chosen: "Make the account",
  },
  reset: {
    path: "/lost-password",
    linkPath: "/lost-password/new",
    title: "Forgotten password",
    linkTitle: "Choose a new password",
    intro: "You get an e-mail with a link. On the page that it leads to, you choose a new password.",
    sent: "If there is an account with the address that you gave, an e-mail is on its way there. Open its link within an hour to choose a new password.",
    chosen: "Set the password and sign in",
  },
};

/** The view that asks for the address. */
export function askView(purpose: LinkPurpose, email = "", problem?: string): Html {
  const { path, title, intro } = ENTRIES[purpose];
  return html`<h1>${title}</h1>
    ${problemView(problem)}
    <section class="card"><form class="stacked" method="post" action="/dashboard${path}">
      <p class="hint">${intro}</p>
      ${textField({ name: "email", label: "E-mail address", value: email, type: "email", autocomplete: "username", isRequired: true })}
      <button class="primary">Send the e-mail</button>
    </form></section>
    ${backToSignIn}`;
}

/** The view after a letter was requested. It is the same for every address. */
export function sentView(purpose: LinkPurpose): Html {
  const { path, sent } = ENTRIES[purpose];
  return html`<h1>Look into your e-mail</h1>
    <section class="card">
      <p>${sent}</p>
      <p>
        Nothing there after some minutes? Look among the spam, and check that the address was right before you
        <a href="/dashboard${path}">ask again</a>. One address gets three e-mails an hour at most.
      </p>
    </section>
    ${backToSignIn}`;
}

export interface UsableLink {
  readonly token: string;
  readonly address: string;
  /** Whether a passkey can be used in place of the code. */
  readonly passkeys: boolean;
  readonly problem?: string;
}

/** The view that asks for the password. The address is there for password managers. */
export function linkView(purpose: LinkPurpose, { token, address, passkeys, problem }: UsableLink): Html {
  const { linkPath, linkTitle, chosen } = ENTRIES[purpose];
  return html`<h1>${linkTitle}</h1>
    ${problemView(problem)}
    <section class="card"><form class="stacked" method="post" action="/dashboard${linkPath}">
      <input type="hidden" name="token" value="${token}" />
      ${textField({ name: "email", label: "E-mail address", value: address, type: "email", autocomplete: "username", isReadOnly: true })}
      ${textField({ name: "new_password", label: "New password", value: "", type: "password", autocomplete: "new-password", hint: PASSWORD_HINT, isRequired: true })}
      ${purpose === "reset" && textField({ name: "code", label: "Code", value: "", autocomplete: "one-time-code", hint: "Only if this account has a second factor." })}
      <button class="primary">${chosen}</button>
      ${passkeys && passkeyButton("second factor", "Use a passkey in the place of the code")}
    </form></section>`;
}

const backToSignIn = html`<p><a href="/dashboard/sign-in">Sign in</a></p>`;
