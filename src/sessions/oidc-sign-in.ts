import { recordChange } from "../audit/audit-store.ts";
import type { Steps } from "../database/steps.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { listInvitationsTo } from "../workspaces/invitation-store.ts";
import { applyOperatorGroup } from "../workspaces/operator-group.ts";
import { DOUBTFUL, noteEmailProved } from "../workspaces/proved-email.ts";
import { signUp } from "../workspaces/sign-up.ts";
import type { Account } from "../workspaces/workspace.ts";
import { findAccount, findAccountByEmail } from "../workspaces/workspace-store.ts";
import type { Person } from "./oidc-person.ts";
import type { OidcSettings } from "./oidc-settings.ts";
import { bindSubject, findBoundAccount, isBound } from "./oidc-store.ts";

/** The settings that decide whether a person whom an issuer names gets in. */
export interface Admission {
  readonly settings: OidcSettings;
  /** The plan of the workspace that comes with a new account. */
  readonly newWorkspacePlan: string;
}

/**
 * The account that a person already has, though perhaps not bound to this issuer; undefined if a new one would be made.
 *
 * @throws unauthorized if no account may be made, or if the account with their address belongs to another person of the issuer.
 */
export function* findAccountOfPerson(
  admission: Admission,
  person: Person,
  now: number,
): Steps<Account | undefined> {
  const { issuer, label } = admission.settings;
  const bound = yield* findBoundAccount({ issuer, subject: person.subject });
  if (bound !== undefined) return yield* findAccount(bound);
  const account = yield* findAccountByEmail(person.email);
  if (account !== undefined) {
    if (yield* isBound(account.id, issuer))
      throw new FormsvcError(
        "unauthorized",
        `The account with your address belongs to another person of ${label}. Ask whoever runs this server.`,
      );
    if (account.isDoubtful) throw new FormsvcError("unauthorized", DOUBTFUL);
    return account;
  }
  const isInvited = (yield* listInvitationsTo(person.email, now)).length > 0;
  if (admission.settings.createAccounts || isInvited) return undefined;
  throw new FormsvcError(
    "unauthorized",
    "There is no account with your address here. Ask whoever runs this server for one.",
  );
}

/**
 * Admits a person; call in the transaction that begins the session. Makes the account if there is none, binds it to the person if it is not
 * bound yet, and applies the group that makes operators. Returns the account's id.
 *
 * @throws as {@link findAccountOfPerson}; unavailable while there is no account at all.
 */
export function* admitPerson(admission: Admission, person: Person, now: number): Steps<string> {
  const { settings, newWorkspacePlan } = admission;
  const { issuer, operatorGroup: group } = settings;
  const known = yield* findAccountOfPerson(admission, person, now);
  const account = known ?? (yield* signUp(person.email, newWorkspacePlan, now)).account;
  const subject = { issuer, subject: person.subject };
  if ((yield* findBoundAccount(subject)) === undefined) {
    yield* bindSubject(subject, account.id, now);
    yield* noteEmailProved(account.id, now);
    const change = {
      action: "account.bind",
      subject: account.email,
      workspaceId: null,
      detail: issuer,
    } as const;
    yield* recordChange({ accountId: account.id, email: account.email }, change, now);
  }
  yield* applyOperatorGroup(account, { issuer, group, isInGroup: person.isInOperatorGroup }, now);
  return account.id;
}
