import { type Actor, recordChange } from "../audit/audit-store.ts";
import type { Steps } from "../database/steps.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { isId } from "../foundation/id.ts";
import { addAccount } from "../workspaces/administer-workspaces.ts";
import { getAccount, hasAccounts, setOperator } from "../workspaces/workspace-store.ts";
import type { Account } from "../workspaces/workspace.ts";
import { clearTotp } from "./credential-store.ts";
import { endOtherSessions, endSession, endSessions } from "./session.ts";
import { makeSignInLink, type SignInLink } from "./sign-in-link.ts";

/** What an operator does to the sign-in of any account. Each records who did it; null is the command line. */

/** As {@link makeSignInLink}. @throws not_found */
export function* giveSignInLink(actor: Actor | null, reference: string, now: number): Steps<SignInLink> {
  const link = yield* makeSignInLink(reference, now);
  yield* record(actor, "account.sign-in-link", link.account, now);
  return link;
}

/**
 * The same from the command line, where a link may come before any account: the first one is made then, and is an operator.
 *
 * @param reference an e-mail address if there is no account yet. @param plan of its workspace. @throws not_found, usage
 */
export function* giveFirstSignInLink(
  reference: string,
  plan: string,
  now: number,
): Steps<SignInLink & { readonly isFirst: boolean }> {
  const isFirst = !isId("acct", reference) && !(yield* hasAccounts());
  if (isFirst) yield* addAccount(null, reference, plan, now);
  return { ...(yield* giveSignInLink(null, reference, now)), isFirst };
}

/** As {@link setOperator}. @throws not_found, conflict */
export function* changeOperator(
  actor: Actor | null,
  reference: string,
  isOperator: boolean,
  now: number,
): Steps<Account> {
  const account = yield* setOperator(reference, isOperator);
  yield* record(actor, isOperator ? "account.make-operator" : "account.unmake-operator", account, now);
  return account;
}

/**
 * Removes an account's second factor, for somebody who has neither the app nor a recovery code any more, and ends its sessions.
 *
 * @throws not_found; conflict when there is none.
 */
export function* resetTotp(actor: Actor | null, reference: string, now: number): Steps<Account> {
  const account = yield* getAccount(reference);
  if (!(yield* clearTotp(account.id, now)))
    throw new FormsvcError("conflict", `${account.email} has no second factor`);
  yield* endSessions(account.id);
  yield* record(actor, "account.reset-totp", account, now);
  return account;
}

/** The sessions of an account that end: all, the one with an id, or all but that one. */
export type EndingSessions = "all" | { readonly only: string } | { readonly allBut: string };

/** Signs an account out. Returns how many sessions ended. @throws not_found when there is no such account */
export function* signOut(
  actor: Actor | null,
  reference: string,
  which: EndingSessions,
  now: number,
): Steps<number> {
  const account = yield* getAccount(reference);
  const ended = yield* end(account.id, which);
  const change = { subject: account.email, workspaceId: null, detail: `${ended} ended` };
  if (ended > 0) yield* recordChange(actor, { action: "account.end-sessions", ...change }, now);
  return ended;
}

function* end(accountId: string, which: EndingSessions): Steps<number> {
  if (which === "all") return yield* endSessions(accountId);
  if ("allBut" in which) return yield* endOtherSessions(accountId, which.allBut);
  return Number(yield* endSession(accountId, which.only));
}

function record(
  actor: Actor | null,
  action: `account.${string}`,
  { email }: Account,
  now: number,
): Steps<void> {
  return recordChange(actor, { action, subject: email, workspaceId: null, detail: null }, now);
}
