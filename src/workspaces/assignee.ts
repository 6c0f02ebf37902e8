import { query } from "../database/database.ts";
import { all, type Steps, text } from "../database/steps.ts";
import { LISTED, listParameter } from "../database/list-parameter.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { isId } from "../foundation/id.ts";
import type { Viewing } from "../operations/actor.ts";
import type { Account } from "./workspace.ts";
import { findAccount, findAccountByEmail, getAccount } from "./workspace-store.ts";

/** Who is to look after something of a workspace. */
export interface Assignee {
  readonly id: string;
  readonly email: string;
}

const MAX_SHOWN_LENGTH = 320;

/** Names the account that asks by its id if `me` is meant. @throws usage for `me` of somebody without an account */
export function whoIsMeant({ accountId }: Pick<Viewing, "accountId">, reference: string): string {
  if (reference !== "me") return reference;
  if (accountId !== null) return accountId;
  throw new FormsvcError("usage", "only an account is assigned to submissions; name one by its address");
}

/**
 * The account that is to look after something: one that sees all of it.
 *
 * @param sees whether somebody sees all of it
 * @param reference an id or an e-mail address. @throws usage, in the same words whether there is no such account or it sees less: who
 *   has an account here is not told to everybody
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
    `${reference.slice(0, MAX_SHOWN_LENGTH)} is nobody who sees these submissions; name the address of an account that sees the workspace`,
  );
}

function find(reference: string): Steps<Account | undefined> {
  return isId("acct", reference) ? findAccount(reference) : findAccountByEmail(reference);
}

/**
 * The id of an account that something may be assigned to, for a filter: whoever does not see everything learns nothing of accounts from
 * it, and undefined fits nothing.
 *
 * @throws not_found to those who see everything
 */
export function* findAssigneeId({ isOperator }: Viewing, reference: string): Steps<string | undefined> {
  return (isOperator ? yield* getAccount(reference) : yield* find(reference))?.id;
}

const CANDIDATES_SQL = `SELECT id, email, is_operator FROM account
  WHERE is_operator = 1 OR id IN (SELECT account_id FROM member
    WHERE workspace_id IN ${LISTED})
  ORDER BY email, id`;

export interface AssigneeSearch {
  /** Members of these workspaces, and operators, are looked at. */
  readonly workspaceIds: readonly string[];
  readonly sees: (viewing: Viewing) => Steps<boolean>;
  /** How many at most. */
  readonly limit: number;
}

/** Accounts that see all of something, by address. */
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
