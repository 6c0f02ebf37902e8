import type { RecordedAccount as Account, Doer } from "../audit/audit-store.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { type Access, includesScope, ruleOf, type Scope } from "./access.ts";

/** Somebody who is signed in to the dashboard. */
interface AccountActor {
  readonly kind: "account";
  readonly accountId: string;
  readonly email: string;
  readonly isOperator: boolean;
}

/** A program with a token. */
export interface TokenActor {
  readonly kind: "token";
  readonly tokenId: string;
  readonly name: string;
  /** Whose token it is, as it is now: a token never can more than its account. Null is a token of a workspace. */
  readonly account: Omit<AccountActor, "kind"> | null;
  readonly scopes: readonly Scope[];
  /** What the token is bound to. If it is null, the token works in every workspace of its account. */
  readonly reach: Reach | null;
}

/** Who does an operation. */
export type Actor =
  /** The command line beside the database. @param user of the operating system; null if it has no name. @param reach what it is for alone */
  | { readonly kind: "terminal"; readonly user: string | null; readonly reach?: Reach | null }
  | AccountActor
  | TokenActor
  /** Somebody without an account who followed the link of a letter. */
  | { readonly kind: "visitor" }
  /** The server's own chores. */
  | { readonly kind: "server" };

/** One workspace, or one endpoint of it. */
export interface Reach {
  readonly workspaceId: string;
  readonly endpointId: string | null;
}

/**
 * Who asks, as far as it decides what there is to see: the workspaces of the account, or all of them. What belongs to another
 * workspace does not exist for them.
 */
export interface Viewing {
  /** Null is nobody's. */
  readonly accountId: string | null;
  /** Whether all workspaces are seen. */
  readonly isOperator: boolean;
  /** What narrows it further; null or absent if nothing does. */
  readonly reach?: Reach | null;
}

/** Of the command line and the server. */
export const SEES_ALL: Viewing = { accountId: null, isOperator: true };
const SEES_NOTHING: Viewing = { accountId: null, isOperator: false };

/** What an actor may see. An operator's token sees all workspaces only with the operator's scope. */
export function viewingOf(actor: Actor): Viewing {
  if (actor.kind === "terminal") return { ...SEES_ALL, reach: actor.reach ?? null };
  if (actor.kind === "server") return SEES_ALL;
  if (actor.kind === "visitor") return SEES_NOTHING;
  if (actor.kind === "account") return { accountId: actor.accountId, isOperator: actor.isOperator };
  const { account, scopes, reach } = actor;
  const isOperator = account?.isOperator === true && includesScope(scopes, "operator");
  return { accountId: account?.accountId ?? null, isOperator, reach };
}

/**
 * What can be said before the operation's target and input are looked at.
 *
 * @throws forbidden
 */
export function requireAccess(actor: Actor, access: Access): void {
  const { role, scopes, byLink = false } = ruleOf(access);
  if (actor.kind === "terminal" || actor.kind === "server") return;
  if (actor.kind === "visitor") {
    if (byLink) return;
    throw new FormsvcError("forbidden", "A link of a letter may not do that.");
  }
  if (actor.kind === "token") {
    if (scopes === null) throw new FormsvcError("forbidden", "A token may not do that.");
    const missing = scopes.find((scope) => !includesScope(actor.scopes, scope));
    if (missing !== undefined) throw new FormsvcError("forbidden", `The token has not the scope ${missing}.`);
  }
  const isOperator = actor.kind === "account" ? actor.isOperator : actor.account?.isOperator === true;
  if (role === "operator" && !isOperator)
    throw new FormsvcError("forbidden", "Only an operator may do that.");
}

/** Whom the record of changes names. */
export function doerOf(actor: Actor): Doer {
  if (actor.kind === "account") return accountDoer(actor);
  if (actor.kind === "token") {
    const { tokenId, name, account } = actor;
    return { tokenId, tokenName: name, account: account && accountDoer(account) };
  }
  if (actor.kind === "terminal") return actor.user === null ? null : { terminalUser: actor.user };
  return actor.kind === "visitor" ? "visitor" : null;
}

function accountDoer({ accountId, email }: Omit<AccountActor, "kind">): Account {
  return { accountId, email };
}
