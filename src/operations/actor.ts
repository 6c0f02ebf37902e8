import type { RecordedAccount as Account, Doer } from "../audit/audit-store.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { type Access, includesScope, ruleOf, type Scope } from "./access.ts";

/** An account that is signed in to the dashboard. */
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
  /**
   * The account that the token belongs to, with its present rights: a token can never do more than its account. Null for a token of a
   * workspace.
   */
  readonly account: Omit<AccountActor, "kind"> | null;
  readonly scopes: readonly Scope[];
  /** The workspace or endpoint that the token is bound to; null if it works in every workspace of its account. */
  readonly reach: Reach | null;
}

/** Who does an operation. */
export type Actor =
  /**
   * The command line on the machine of the database. `user` is the name of the operating system's user, null if there is none; `reach`
   * limits the command to one workspace or endpoint.
   */
  | { readonly kind: "terminal"; readonly user: string | null; readonly reach?: Reach | null }
  | AccountActor
  | TokenActor
  /** A visitor without an account who followed the link of a letter. */
  | { readonly kind: "visitor" }
  /** The server's own chores. */
  | { readonly kind: "server" };

/** A workspace, or one endpoint of it. */
export interface Reach {
  readonly workspaceId: string;
  readonly endpointId: string | null;
}

/**
 * What decides what an actor sees: the workspaces of the account, or all of them. What belongs to another workspace is treated as if it did
 * not exist.
 */
export interface Viewing {
  /** The account whose workspaces are seen; null means no account. */
  readonly accountId: string | null;
  /** Whether all workspaces are seen. */
  readonly isOperator: boolean;
  /** A workspace or endpoint that limits this further; null or absent if nothing does. */
  readonly reach?: Reach | null;
}

/** What the command line and the server see. */
export const SEES_ALL: Viewing = { accountId: null, isOperator: true };
const SEES_NOTHING: Viewing = { accountId: null, isOperator: false };

/** What an actor may see. An operator's token sees all workspaces only if it has the operator's scope. */
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
 * Checks the part of the access that does not depend on the operation's target and input.
 *
 * @throws forbidden
 */
export function requireAccess(actor: Actor, access: Access): void {
  const { role, scopes, byLink = false } = ruleOf(access);
  if (actor.kind === "terminal" || actor.kind === "server") return;
  if (actor.kind === "visitor") {
    if (byLink) return;
    throw new FormsvcError("forbidden", "a link of a letter may not do that");
  }
  if (actor.kind === "token") {
    if (scopes === null) throw new FormsvcError("forbidden", "a token may not do that");
    const missing = scopes.find((scope) => !includesScope(actor.scopes, scope));
    if (missing !== undefined)
      throw new FormsvcError("forbidden", `the token does not have the scope ${missing}`);
  }
  if (role !== "operator") return;
  const isOperator = actor.kind === "account" ? actor.isOperator : actor.account?.isOperator === true;
  if (!isOperator) throw new FormsvcError("forbidden", "only an operator may do that");
  if (actor.kind === "token" && actor.reach !== null)
    throw new FormsvcError(
      "forbidden",
      "this concerns the whole installation, and is not done within one workspace or endpoint",
    );
}

/** The name of an actor in the record of changes. */
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
