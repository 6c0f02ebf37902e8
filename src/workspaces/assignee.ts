import { query } from "../database/database.ts";
import { all, type Steps, text } from "../database/steps.ts";
import { LISTED, listParameter } from "../database/list-parameter.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { isId } from "../foundation/id.ts";
import type { Viewing } from "../operations/actor.ts";
import type { Account } from "./workspace.ts";
import { findAccount, findAccountByEmail, getAccount } from "./workspace-store.ts";

/** The account that is to look after something of a workspace. */
export interface Assignee {
  readonly id: string;
  readonly email: string;
}

const MAX_SHOWN_LENGTH = 320;

/**
 * Replaces `me` by the id of the account that asks; returns other references unchanged.
 *
 * @throws usage for `me` if the actor has no account
 */
export function whoIsMeant({ accountId }: Pick<Viewing, "accountId">, reference: string): string {
  if (reference !== "me") return reference;
  if (accountId !== null) return accountId;
  throw new FormsvcError("usage", "only an account is assigned to submissions; name one by its address");
}

/**
 * Finds the account that is to look after something. It must see all of it.
 *
 * @param reference an id or an e-mail address
 * @param sees whether an account sees all of it
 * @throws usage, with the same message if there is no such account and if it sees less, so that nobody learns who has an account
 */
export function* findAssignee(
  reference: string,
  sees: (viewing: Viewing) => Steps<boolean>,
): Steps<Assignee> {
  const account = yield* find(reference);
  if (account !== undefined) {
    const { id, email, isOperator } = account;
    if (yield* sees({ accountId: id, isOperator })) return { id, email };
  }
  throw new FormsvcError(
    "usage",
    `${reference.slice(0, MAX_SHOWN_LENGTH)} does not see these submissions; name the address of an account that does`,
  );
}

function find(reference: string): Steps<Account | undefined> {
  return isId("acct", reference) ? findAccount(reference) : findAccountByEmail(reference);
}

/**
 * The id of the account in a filter by assignee. Undefined, which matches nothing, if there is no such account: so an actor who is no
 * operator learns nothing about accounts.
 *
 * @throws not_found for operators
 */
export function* findAssigneeId({ isOperator }: Viewing, reference: string): Steps<string | undefined> {
  return (isOperator ? yield* getAccount(reference) : yield* find(reference))?.id;
}

const CANDIDATES_SQL = `SELECT id, email, is_operator FROM account
  WHERE is_operator = 1 OR id IN (SELECT account_id FROM member
    WHERE workspace_id IN ${LISTED})
  ORDER BY email, id`;

export interface AssigneeSearch {
  /** Searches the members of these workspaces, and operators. */
  readonly workspaceIds: readonly string[];
  readonly sees: (viewing: Viewing) => Steps<boolean>;
  /** The largest number of accounts to return. */
  readonly limit: number;
}

/** Accounts that see all of something, sorted by address. */
export function* listAssignees({ workspaceIds, sees, limit }: AssigneeSearch): Steps<Assignee[]> {
  const candidates = yield* all(
    text<{ id: string; email: string; is_operator: number }>(CANDIDATES_SQL, listParameter(workspaceIds)),
  );
  const found: Assignee[] = [];
  for (const { id, email, is_operator: isOperator } of candidates) {
    if (found.length === limit) break;
    if (yield* sees({ accountId: id, isOperator: isOperator === 1 })) found.push({ id, email });
  }
  return found;
}

/** The addresses of these accounts, by id. */
export function* readEmails(ids: readonly string[]): Steps<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const distinct = [...new Set(ids)];
  const rows = yield* all(query.selectFrom("account").select(["id", "email"]).where("id", "in", distinct));
  return new Map(rows.map(({ id, email }) => [id, email]));
}
