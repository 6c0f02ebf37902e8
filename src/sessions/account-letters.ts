import { parseMailAddress } from "../foundation/mail-address.ts";
import type { WrittenLetter } from "../mail/letters/letters.ts";
import type { Account } from "../workspaces/workspace.ts";

/*
 * Letters about accounts. They contain nothing that the asking person typed, so nobody can use them to write to others. A letter to an
 * account goes to its stored address; null if no mail server accepts that address.
 */

const NOT_YOU = "If it was not you, there is nothing to do.";

export function signUpLetter(address: string, token: string, dashboardUrl: string): WrittenLetter {
  return {
    to: address,
    subject: `Confirm your e-mail address for ${hostOf(dashboardUrl)}`,
    paragraphs: [
      `Somebody, most likely you, asked for an account with this address at ${hostOf(dashboardUrl)}.`,
      "The link leads to a page on which you choose a password. It works once, within 24 hours.",
      `${NOT_YOU} There is no account until the link is used.`,
    ],
    link: { label: "Confirm the address", url: `${dashboardUrl}/sign-up/confirm?token=${token}` },
  };
}

export function accountExistsLetter(account: Account, dashboardUrl: string): WrittenLetter | null {
  return letterTo(account, {
    subject: `You have an account at ${hostOf(dashboardUrl)}`,
    paragraphs: [
      `Somebody, most likely you, asked for an account with this address at ${hostOf(dashboardUrl)}. You have one already.`,
      "The link leads to the page on which you sign in. If you forgot the password, that page sends you a link for a new one.",
      NOT_YOU,
    ],
    link: { label: "Sign in", url: `${dashboardUrl}/sign-in` },
  });
}

export function resetLetter(account: Account, token: string, dashboardUrl: string): WrittenLetter | null {
  return letterTo(account, {
    subject: `Set a new password for ${hostOf(dashboardUrl)}`,
    paragraphs: [
      `Somebody, most likely you, forgot the password of your account at ${hostOf(dashboardUrl)}.`,
      "The link leads to a page on which you choose a new one. It works once, within an hour. If your account has a second factor, its code is asked for too.",
      `${NOT_YOU} Your password stays as it is until the link is used.`,
    ],
    link: { label: "Choose a new password", url: `${dashboardUrl}/lost-password/new?token=${token}` },
  });
}

/** A change of how an account signs in, as the record of changes names it. */
export type SecurityChange =
  | "account.set-password"
  | "account.set-totp"
  | "account.remove-totp"
  | "account.renew-codes"
  | "account.add-passkey"
  | "account.remove-passkey";

const CHANGES: Readonly<Record<SecurityChange, string>> = {
  "account.set-password": "password was changed",
  "account.set-totp": "second factor was set up",
  "account.remove-totp": "second factor was switched off",
  "account.renew-codes": "recovery codes were made anew",
  "account.add-passkey": "new passkey was added",
  "account.remove-passkey": "passkey was removed",
};

/** The letter for an owner who may not have made the change. */
export function securityLetter(
  email: string,
  change: SecurityChange,
  dashboardUrl: string,
): WrittenLetter | null {
  return letterTo(
    { email },
    {
      subject: `Your ${CHANGES[change]} at ${hostOf(dashboardUrl)}`,
      paragraphs: [
        `Your ${CHANGES[change]} just now at ${hostOf(dashboardUrl)}, and every other browser was signed out.`,
        "If it was you, there is nothing to do. If not, set a new password now, and tell whoever runs that server.",
      ],
      link: { label: "Set a new password", url: `${dashboardUrl}/lost-password` },
    },
  );
}

function letterTo(
  { email }: Pick<Account, "email">,
  letter: Omit<WrittenLetter, "to">,
): WrittenLetter | null {
  const to = parseMailAddress(email);
  return to === null ? null : { to, ...letter };
}

function hostOf(dashboardUrl: string): string {
  return new URL(dashboardUrl).host;
}
