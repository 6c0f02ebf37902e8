import { recordChange } from "../audit/audit-store.ts";
import { type Selectable, sql } from "kysely";
import { query } from "../database/database.ts";
import { all, first, run, type Steps, text } from "../database/steps.ts";
import { raiseSettingsVersion } from "../database/settings-version.ts";
import type { Tables } from "../database/tables.generated.ts";
import { NO_BRAND } from "../foundation/brand.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { isId, newId } from "../foundation/id.ts";
import { isSameAddress } from "../foundation/mail-address.ts";
import type { Access } from "../operations/access.ts";
import { SEES_ALL, type Viewing } from "../operations/actor.ts";
import { findSight, needsWhole } from "./standing.ts";
import {
  type Account,
  checkEmail,
  checkName,
  DEFAULT_PLAN,
  isOnlyOperator,
  limitsOf,
  type Plans,
  type Workspace,
} from "./workspace.ts";
import { toWorkspace } from "./workspace-row.ts";

/** The account that an empty database gets, so that the first endpoint can be made at once. */
export const FIRST_ACCOUNT_EMAIL = "owner@localhost";

/** Adds an account and its workspace on this plan. The workspace is named after the address. @throws usage, already_exists */
export function* insertAccountRows(
  emailText: string,
  now: number,
  plan: string = DEFAULT_PLAN,
): Steps<{ account: Account; workspace: Workspace }> {
  const email = checkEmail(emailText);
  if ((yield* findAccountLike(email)) !== undefined) {
    throw new FormsvcError("already_exists", `there is an account ${email} already`);
  }
  return yield* insertAccount(email, now, plan);
}

export function* listAccounts(): Steps<Account[]> {
  const rows = yield* all(query.selectFrom("account").selectAll().orderBy("id"));
  return rows.map(toAccount);
}

export function* hasAccounts(): Steps<boolean> {
  return (yield* first(query.selectFrom("account").select("id").limit(1))) !== undefined;
}

/** The account with this id, or undefined. */
export function* findAccount(id: string): Steps<Account | undefined> {
  const row = yield* first(query.selectFrom("account").selectAll().where("id", "=", id));
  return row === undefined ? undefined : toAccount(row);
}

/**
 * Adds a further workspace on this plan.
 *
 * @param account id or e-mail address; null means the only account
 * @throws usage, not_found, ambiguous
 */
export function* insertWorkspaceRow(
  nameText: string,
  account: string | null,
  now: number,
  plan: string = DEFAULT_PLAN,
): Steps<Workspace> {
  const name = checkName(nameText);
  const owner = yield* chooseAccount(account, now, plan);
  return yield* insertNamedWorkspace(owner.id, name, now, plan);
}

export function* listWorkspaces(): Steps<Workspace[]> {
  return (yield* all(query.selectFrom("workspace").selectAll().orderBy("id"))).map(toWorkspace);
}

/** @param reference an id, or a name that is unique among the visible workspaces @throws not_found, ambiguous */
export function* getWorkspace(reference: string, viewing: Viewing = SEES_ALL): Steps<Workspace> {
  const column = isId("ws", reference) ? "id" : "name";
  const rows = yield* all(selectVisible(viewing).where(column, "=", reference).limit(2));
  const [row] = rows;
  if (row === undefined) {
    throw noWorkspace(reference);
  }
  if (rows.length > 1) {
    throw new FormsvcError("ambiguous", `several workspaces are named ${reference}; use the id`, {
      hint: { kind: "list_workspaces" },
    });
  }
  return toWorkspace(row);
}

/**
 * Every workspace that somebody may see.
 *
 * @param access restricts them to those in which the role is enough for this; null means no restriction
 */
export function* listViewableWorkspaces(viewing: Viewing, access: Access | null = null): Steps<Workspace[]> {
  const workspaces = (yield* all(selectVisible(viewing).orderBy("id"))).map(toWorkspace);
  const sight = access === null ? null : yield* findSight(viewing, access);
  if (sight === null || access === null) return workspaces;
  const allowed = new Set(needsWhole(access) ? sight.whole : [...sight.whole, ...sight.bound]);
  return workspaces.filter(({ id }) => allowed.has(id));
}

/** Selects the workspaces that somebody has a standing in. */
function selectVisible({ accountId, isOperator, reach = null }: Viewing) {
  let rows = query.selectFrom("workspace").selectAll();
  if (reach !== null) rows = rows.where("id", "=", reach.workspaceId);
  const isLimited = !isOperator && (accountId !== null || reach === null);
  if (!isLimited) return rows;
  const own = query
    .selectFrom("member")
    .select("workspace_id")
    .where("account_id", "=", accountId ?? "");
  return rows.where("id", "in", own);
}

/** Whether somebody may see more than one workspace. */
export function* seesSeveralWorkspaces(viewing: Viewing): Steps<boolean> {
  return (yield* all(selectVisible(viewing).limit(2))).length > 1;
}

/** The names of these workspaces, by id. The caller has checked that they may be seen. */
export function* readWorkspaceNames(ids: readonly string[]): Steps<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = yield* all(query.selectFrom("workspace").select(["id", "name"]).where("id", "in", ids));
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** @throws not_found, with the same message for an id that does not exist and for one of somebody else's */
export function* getViewableWorkspace(viewing: Viewing, id: string): Steps<Workspace> {
  const row = yield* first(selectVisible(viewing).where("id", "=", id));
  if (row === undefined) throw noWorkspace(id);
  return toWorkspace(row);
}

const OF_OPERATOR_SQL = `SELECT account.is_operator FROM workspace
  JOIN account ON account.id = workspace.account_id WHERE workspace.id = ?`;

/** Whether the owner that a workspace names is an operator. */
export function* isOfOperator(workspaceId: string): Steps<boolean> {
  return (yield* first(text<{ is_operator: number }>(OF_OPERATOR_SQL, workspaceId)))?.is_operator === 1;
}

/**
 * The workspace that a command means: the one it names, else the only one. In an empty database this creates the first account and
 * workspace, on this plan. Call it inside a transaction.
 *
 * @throws not_found, ambiguous
 */
export function* chooseWorkspace(
  reference: string | null,
  now: number,
  plan: string = DEFAULT_PLAN,
): Steps<Workspace> {
  if (reference !== null) return yield* getWorkspace(reference);
  const only = yield* findOnlyWorkspace();
  if (only !== null) return only;
  return (yield* insertFirstAccount(now, plan)).workspace;
}

function* insertFirstAccount(
  now: number,
  plan: string,
): Steps<{ readonly account: Account; readonly workspace: Workspace }> {
  const made = yield* insertAccount(FIRST_ACCOUNT_EMAIL, now, plan);
  const change = { subject: made.account.email, workspaceId: made.workspace.id, detail: null };
  yield* recordChange(null, { action: "account.create", ...change }, now);
  return made;
}

/** Null in an empty database. @throws ambiguous if there are several */
function* findOnlyWorkspace(): Steps<Workspace | null> {
  const [only, other] = yield* all(query.selectFrom("workspace").selectAll().orderBy("id").limit(2));
  if (other !== undefined) throw severalWorkspaces();
  return only === undefined ? null : toWorkspace(only);
}

export function severalWorkspaces(): FormsvcError {
  return new FormsvcError(
    "ambiguous",
    "there are several workspaces; name the one you mean by its id or name",
    { hint: { kind: "list_workspaces" } },
  );
}

/**
 * Changes a workspace's plan. It applies at once, and in running servers within a second.
 *
 * @param reference null means the only workspace @throws usage, not_found, ambiguous
 */
export function* updatePlanRow(reference: string | null, plan: string, plans: Plans): Steps<Workspace> {
  if (!Object.hasOwn(plans, plan)) {
    throw new FormsvcError("usage", `there is no plan ${plan}; there are: ${Object.keys(plans).join(", ")}`);
  }
  const workspace = reference === null ? yield* findOnlyWorkspace() : yield* getWorkspace(reference);
  if (workspace === null)
    throw new FormsvcError("not_found", "there is no workspace yet; the first endpoint makes one");
  yield* run(query.updateTable("workspace").set({ plan }).where("id", "=", workspace.id));
  yield* raiseSettingsVersion(workspace.id);
  return { ...workspace, plan };
}

/** Called when a server starts, because a workspace on a plan that is not configured could accept no post. @throws config_invalid */
export function* checkPlans(plans: Plans): Steps<void> {
  for (const { plan } of yield* all(query.selectFrom("workspace").select("plan").distinct()))
    limitsOf(plans, plan);
}

/**
 * The account that a command means: the one it names, else the only one. In an empty database this creates the first account and its
 * workspace, on this plan. Call it inside a transaction.
 *
 * @param reference id or e-mail address @throws not_found, ambiguous
 */
export function* chooseAccount(
  reference: string | null,
  now: number,
  plan: string = DEFAULT_PLAN,
): Steps<Account> {
  if (reference !== null) return yield* getAccount(reference);
  const [first, second] = yield* listAccounts();
  if (second !== undefined) {
    throw new FormsvcError("ambiguous", "there are several accounts", { hint: { kind: "choose_account" } });
  }
  return first ?? (yield* insertFirstAccount(now, plan)).account;
}

/**
 * Makes an account an operator, or makes it no operator any more.
 *
 * @param reference its id or e-mail address @throws not_found; conflict for the only operator, because somebody must see everything
 */
export function* updateOperatorRow(reference: string, isOperator: boolean): Steps<Account> {
  const account = yield* getAccount(reference);
  if (!isOperator) yield* checkOtherOperator(account);
  yield* run(
    query
      .updateTable("account")
      .set({ is_operator: Number(isOperator), operator_by: null })
      .where("id", "=", account.id),
  );
  return { ...account, isOperator };
}

/** @throws conflict if no other account is an operator, because somebody must see everything */
export function* checkOtherOperator({ id, email }: Account): Steps<void> {
  const others = query.selectFrom("account").select("id").where("is_operator", "=", 1).where("id", "<>", id);
  if ((yield* first(others.limit(1))) === undefined) throw isOnlyOperator(email);
}

/** The account with this e-mail address, ignoring the case of ASCII letters, or undefined. */
export function* findAccountByEmail(email: string): Steps<Account | undefined> {
  const account = yield* findAccountLike(email.trim());
  return account !== undefined && isSameAddress(account.email, email.trim()) ? account : undefined;
}

/** The account that keeps others from having this address, or undefined: its address is the same, or the database takes it for the same. */
export function* findAccountLike(email: string): Steps<Account | undefined> {
  const row = yield* first(query.selectFrom("account").selectAll().where(hasEmail(email)));
  return row && toAccount(row);
}

/** @param reference an id or an e-mail address. @throws not_found */
export function* getAccount(reference: string): Steps<Account> {
  const account = isId("acct", reference)
    ? yield* findAccount(reference)
    : yield* findAccountByEmail(reference);
  if (account === undefined) {
    throw new FormsvcError("not_found", `there is no account ${reference}`, {
      hint: { kind: "list_accounts" },
    });
  }
  return account;
}

/**
 * A condition: the account has this address, ignoring case. In SQLite that is the case of ASCII letters. In PostgreSQL it may be that of all
 * letters, so that other letters count as the same.
 */
function hasEmail(email: string) {
  return sql<boolean>`lower(email) = lower(${email})`;
}

function* insertAccount(
  email: string,
  now: number,
  plan: string,
): Steps<{ account: Account; workspace: Workspace }> {
  const isOperator = !(yield* hasAccounts());
  const account = { id: newId("acct", now), email, isOperator, isDoubtful: false, createdAt: now };
  yield* run(
    query
      .insertInto("account")
      .values({ id: account.id, email, is_operator: Number(isOperator), created_at: now }),
  );
  return {
    account,
    workspace: yield* insertNamedWorkspace(account.id, email.split("@")[0] ?? email, now, plan),
  };
}

function* insertNamedWorkspace(accountId: string, name: string, now: number, plan: string): Steps<Workspace> {
  const workspace = {
    id: newId("ws", now),
    accountId,
    name,
    plan,
    timeZone: null,
    brand: NO_BRAND,
    createdAt: now,
  };
  yield* run(
    query
      .insertInto("workspace")
      .values({ id: workspace.id, account_id: accountId, name, plan, created_at: now }),
  );
  return workspace;
}

function toAccount(row: Selectable<Tables["account"]>): Account {
  const { id, email, created_at: createdAt } = row;
  const isDoubtful = row.is_doubtful === 1 && row.email_proved_at === null;
  return { id, email, isOperator: row.is_operator === 1, isDoubtful, createdAt };
}

export function noWorkspace(reference: string): FormsvcError {
  return new FormsvcError("not_found", `there is no workspace ${reference}`, {
    hint: { kind: "list_workspaces" },
  });
}
