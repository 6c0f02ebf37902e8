import { all, type Steps, text } from "../database/steps.ts";
import { LISTED, listParameter } from "../database/list-parameter.ts";
import { findLimits, type Plans } from "./workspace.ts";
import { hasReached } from "./usage-mark.ts";

/** A workspace that has used most of its monthly limit, and its owner. */
export interface NearLimit {
  readonly workspaceId: string;
  readonly name: string;
  readonly plan: string;
  readonly used: number;
  readonly limit: number;
  /** The address of the owner's account. */
  readonly owner: string;
}

/** The number of workspaces that one call reads; it takes at most some milliseconds. */
const AT_ONCE = 500;

export interface NearLimitPage {
  readonly found: readonly NearLimit[];
  /** The last workspace that was read; null if there are no more. */
  readonly last: string | null;
}

/**
 * Reads the next 500 workspaces, and returns those that have used 80 % or more of their monthly limit.
 *
 * @param after the last workspace of the page before; null means the first page
 * @param only one workspace; null means all
 */
export function* listNearLimit(
  plans: Plans,
  month: string,
  { after, only }: { readonly after: string | null; readonly only: string | null },
): Steps<NearLimitPage> {
  // All ids have the same length, so no id lies between the last one and the last one followed by a character.
  const from = only ?? (after === null ? "" : `${after}0`);
  const rows = yield* all(text<Row>(PAGE_SQL, month, from, only ?? BEHIND_ALL));
  const found = rows.flatMap(({ id, name, plan, used, email: owner }) => {
    const limit = findLimits(plans, plan)?.monthlySubmissions ?? null;
    if (limit === null || !hasReached(used, limit, 80)) return [];
    return [{ workspaceId: id, name, plan, used, limit, owner }];
  });
  return { found, last: rows.length < AT_ONCE ? null : (rows.at(-1)?.id ?? null) };
}

interface Row {
  readonly id: string;
  readonly name: string;
  readonly plan: string;
  readonly used: number;
  readonly email: string;
}

const PAGE_SQL = `SELECT workspace.id, workspace.name, workspace.plan, usage.used, account.email
  FROM workspace JOIN usage ON usage.workspace_id = workspace.id AND usage.month = ?
    JOIN account ON account.id = workspace.account_id
  WHERE workspace.id BETWEEN ? AND ? ORDER BY workspace.id LIMIT ${AT_ONCE}`;
/** Sorts after every id of a workspace, because they begin with `ws_`. */
const BEHIND_ALL = "x";

/** What letters say about a workspace, besides its count. */
export type NamedWorkspace = Pick<NearLimit, "workspaceId" | "name" | "plan" | "owner">;

/** The workspaces with these ids, as far as they exist. */
export function* nameWorkspaces(ids: readonly string[]): Steps<NamedWorkspace[]> {
  const rows = yield* all(text<Omit<Row, "used">>(NAMES_SQL, listParameter(ids)));
  return rows.map(({ id, name, plan, email }) => ({ workspaceId: id, name, plan, owner: email }));
}

const NAMES_SQL = `SELECT workspace.id, workspace.name, workspace.plan, account.email
  FROM workspace JOIN account ON account.id = workspace.account_id
  WHERE workspace.id IN ${LISTED} ORDER BY workspace.id`;

/** The addresses of accounts that are operators. */
export function* listOperatorAddresses(): Steps<string[]> {
  const rows = yield* all(
    text<{ email: string }>("SELECT email FROM account WHERE is_operator = 1 ORDER BY id"),
  );
  return rows.map(({ email }) => email);
}
