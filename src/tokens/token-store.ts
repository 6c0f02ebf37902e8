import { hash, timingSafeEqual } from "node:crypto";
import type { Selectable } from "kysely";
import { query } from "../database/database.ts";
import { all, first, run, type Steps } from "../database/steps.ts";
import type { Tables } from "../database/tables.generated.ts";
import { dayStart } from "../foundation/clock.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { isId, newId } from "../foundation/id.ts";
import { isLookup, type SecretText } from "../foundation/secret-text.ts";
import type { Scope } from "../operations/access.ts";
import type { TokenActor, Viewing } from "../operations/actor.ts";
import { checkName } from "../workspaces/workspace.ts";
import { findAccount, listViewableWorkspaces } from "../workspaces/workspace-store.ts";
import { readTokenText, stateOf, type Token, WARNED_BEFORE_MS } from "./token.ts";

/** The members that decide what a token may do, and how long. */
export type NewToken = Pick<
  Token,
  "name" | "accountId" | "workspaceId" | "endpointId" | "scopes" | "expiresAt"
>;

/** The largest number of tokens of an account or a workspace that work. */
const MAX_WORKING_TOKENS = 50;
/** The largest number of its ended tokens that are listed; beyond it, those that were made first are deleted. */
const MAX_ENDED_TOKENS = 100;

/** Adds a token. Call inside a transaction. @throws usage if its owner has too many that work. */
export function* insertTokenRow(made: NewToken, secret: SecretText, now: number): Steps<Token> {
  const name = checkName(made.name);
  yield* makeRoom(made, now);
  const row = {
    id: newId("tok", now),
    name,
    lookup: secret.lookup,
    hash: digest(secret.text),
    account_id: made.accountId,
    workspace_id: made.workspaceId,
    endpoint_id: made.endpointId,
    scopes: JSON.stringify(made.scopes),
    created_at: now,
    expires_at: made.expiresAt,
    last_used_at: null,
    revoked_at: null,
  };
  yield* run(query.insertInto("api_token").values(row));
  return toToken(row);
}

function* makeRoom({ accountId, workspaceId }: NewToken, now: number): Steps<void> {
  const rows = query.selectFrom("api_token").selectAll().orderBy("id");
  const own =
    accountId === null
      ? rows.where("workspace_id", "=", workspaceId)
      : rows.where("account_id", "=", accountId);
  const tokens = (yield* all(own)).map(toToken);
  const ended = tokens.filter((token) => stateOf(token, now) !== "active");
  if (tokens.length - ended.length >= MAX_WORKING_TOKENS)
    throw new FormsvcError(
      "usage",
      `an account or workspace has at most ${MAX_WORKING_TOKENS} tokens that work; revoke one first`,
      { hint: { kind: "list_tokens" } },
    );
  const surplus = ended.slice(0, -MAX_ENDED_TOKENS).map(({ id }) => id);
  if (surplus.length > 0) yield* run(query.deleteFrom("api_token").where("id", "in", surplus));
}

/** Refuses the token from now on. A second call changes nothing. */
export function* revokeTokenRow(token: Token, now: number): Steps<Token> {
  if (token.revokedAt !== null) return token;
  yield* run(query.updateTable("api_token").set({ revoked_at: now }).where("id", "=", token.id));
  return { ...token, revokedAt: now };
}

/**
 * Refuses all tokens of an account from now on, and those that it has approved and that were not fetched yet. Tokens of its workspaces
 * stay.
 */
export function* endTokensOf(accountId: string, now: number): Steps<void> {
  const working = query.updateTable("api_token").where("account_id", "=", accountId);
  yield* run(working.where("revoked_at", "is", null).set({ revoked_at: now }));
  yield* run(query.deleteFrom("login_request").where("account_id", "=", accountId));
}

/** Deletes service tokens that are bound to an endpoint which has moved to another workspace. Returns the number deleted. */
export function deleteTokensElsewhere(endpointId: string, workspaceId: string): Steps<number> {
  return run(
    query
      .deleteFrom("api_token")
      .where("endpoint_id", "=", endpointId)
      .where("workspace_id", "<>", workspaceId),
  );
}

/** Notes that the token was used; writes at most once a day. */
export function* noteUse(id: string, now: number): Steps<void> {
  yield* run(
    query
      .updateTable("api_token")
      .set({ last_used_at: dayStart(now) })
      .where("id", "=", id),
  );
}

/** The tokens that the account may see, ended ones too, oldest first: its own, and those of its workspaces. */
export function* listTokens(viewing: Viewing): Steps<Token[]> {
  return (yield* all((yield* selectVisible(viewing)).orderBy("id"))).map(toToken);
}

/**
 * Finds a visible token. @param reference its id, its 12 public characters, or the whole token, as it was found leaked. @throws not_found
 */
export function* getToken(viewing: Viewing, reference: string): Steps<Token> {
  const isOfId = isId("tok", reference);
  const name = readTokenText(reference)?.lookup ?? reference;
  const rows = (yield* selectVisible(viewing)).where(isOfId ? "id" : "lookup", "=", name);
  const row = isOfId || isLookup(name) ? yield* first(rows) : undefined;
  if (row === undefined)
    throw new FormsvcError("not_found", "there is no such token; name it by its id, or whole", {
      hint: { kind: "list_tokens" },
    });
  return toToken(row);
}

/** Selects visible tokens. An operator sees all tokens, as it sees all workspaces; a token sees none. */
function* selectVisible({ accountId, isOperator, reach = null }: Viewing) {
  const rows = query.selectFrom("api_token").selectAll();
  if (isOperator && reach === null) return rows;
  const viewing = { accountId, isOperator, reach };
  const workspaces =
    accountId === null ? [] : (yield* listViewableWorkspaces(viewing, "tokens")).map(({ id }) => id);
  return rows.where((row) =>
    row.or([row("account_id", "=", accountId), row("workspace_id", "in", [...workspaces, ""])]),
  );
}

/** A token that works, with an actor that has the present rights of its account. */
export interface LiveToken {
  readonly actor: TokenActor;
  readonly token: Token;
}

/** Undefined if the token is unknown, expired or revoked, or if its owner does not exist any more. */
export function* findLiveToken(secret: SecretText, now: number): Steps<LiveToken | undefined> {
  const rows = query.selectFrom("api_token").selectAll();
  const row = yield* first(rows.where("lookup", "=", secret.lookup));
  // Compared even without a row, so that an unknown token takes as long as a revoked one.
  const fits = timingSafeEqual(digest(secret.text), row?.hash ?? Buffer.alloc(32));
  if (row === undefined || !fits) return undefined;
  const token = toToken(row);
  if (stateOf(token, now) !== "active") return undefined;
  const { accountId, workspaceId, endpointId } = token;
  const account = accountId === null ? null : yield* findAccount(accountId);
  if (account === undefined) return undefined;
  const identity = account && {
    accountId: account.id,
    email: account.email,
    isOperator: account.isOperator,
  };
  const reach = workspaceId === null ? null : { workspaceId, endpointId };
  const { id: tokenId, name, scopes } = token;
  return { token, actor: { kind: "token", tokenId, name, account: identity, scopes, reach } };
}

/** Tokens that work and expire soon, the next one first. */
export function* listEnding(now: number, limit: number): Steps<Token[]> {
  const rows = query
    .selectFrom("api_token")
    .selectAll()
    .where("revoked_at", "is", null)
    .where("expires_at", ">", now)
    .where("expires_at", "<=", now + WARNED_BEFORE_MS);
  return (yield* all(rows.orderBy("expires_at").orderBy("id").limit(limit))).map(toToken);
}

function digest(text: string): Buffer {
  return hash("sha256", text, "buffer");
}

function toToken(row: Selectable<Tables["api_token"]>): Token {
  return {
    id: row.id,
    name: row.name,
    accountId: row.account_id,
    workspaceId: row.workspace_id,
    endpointId: row.endpoint_id,
    scopes: JSON.parse(row.scopes) as Scope[],
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    lastUsedAt: row.last_used_at,
    revokedAt: row.revoked_at,
  };
}
