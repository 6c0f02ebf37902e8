import type { Selectable } from "kysely";
import { query } from "../database/database.ts";
import { all, first, type Steps } from "../database/steps.ts";
import type { Tables } from "../database/tables.generated.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { type Access, includesRole, type Role, ruleOf } from "../operations/access.ts";
import type { Viewing } from "../operations/actor.ts";

/** The rights of an actor in a workspace. */
export interface Standing {
  readonly role: Role;
  /** The ids of the only endpoints that the actor sees; null means all, including later ones. */
  readonly endpoints: readonly string[] | null;
  /** This and the next are switches that only readers may have off. */
  readonly mayExport: boolean;
  readonly seesSpamDetails: boolean;
}

const WHOLE = { endpoints: null, mayExport: true, seesSpamDetails: true };
const OPERATOR: Standing = { ...WHOLE, role: "operator" };
/** The standing of a token that belongs to the workspace itself. */
const SERVICE: Standing = { ...WHOLE, role: "owner" };

/**
 * Null if the workspace does not exist or the actor cannot see it. Whoever is limited to one endpoint stands there like a member who sees
 * only that one, whatever their role is.
 */
export function* findStanding(viewing: Viewing, workspaceId: string): Steps<Standing | null> {
  const standing = yield* findWholeStanding(viewing, workspaceId);
  const only = viewing.reach?.endpointId ?? null;
  if (standing === null || only === null) return standing;
  return { ...standing, endpoints: seesEndpoint(standing, only) ? [only] : [] };
}

/** The standing of an actor, without regard to the endpoint that it is limited to. */
function* findWholeStanding(viewing: Viewing, workspaceId: string): Steps<Standing | null> {
  const { accountId, isOperator, reach = null } = viewing;
  if (reach !== null && reach.workspaceId !== workspaceId) return null;
  if (isOperator) return OPERATOR;
  if (accountId === null) return reach === null ? null : SERVICE;
  const row = yield* first(ofAccount(accountId).where("workspace_id", "=", workspaceId));
  return row === undefined ? null : toStanding(row);
}

/** The part of the database that somebody sees who is no operator. */
export interface Sight {
  /** The ids of workspaces that are seen with all their endpoints. */
  readonly whole: readonly string[];
  /** The ids of workspaces of which only some endpoints are seen. `endpoints` has these endpoints. */
  readonly bound: readonly string[];
  readonly endpoints: readonly string[];
}

/**
 * What an actor sees; null means everything.
 *
 * @param access restricts it to workspaces in which the standing is enough for this; null means no restriction
 */
export function* findSight(viewing: Viewing, access: Access | null = null): Steps<Sight | null> {
  const sight = yield* findWholeSight(viewing, access);
  const { workspaceId = "", endpointId: only = null } = viewing.reach ?? {};
  if (sight === null || only === null) return sight;
  const sees = sight.whole.includes(workspaceId) || sight.endpoints.includes(only);
  if (!sees || (access !== null && OF_WORKSPACE.has(access))) return { whole: [], bound: [], endpoints: [] };
  return { whole: [], bound: [workspaceId], endpoints: [only] };
}

/** What an actor sees, without regard to the endpoint that it is limited to. */
function* findWholeSight(viewing: Viewing, access: Access | null): Steps<Sight | null> {
  const { accountId, isOperator, reach = null } = viewing;
  if (isOperator && reach === null) return null;
  if (isOperator || accountId === null)
    return { whole: reach === null ? [] : [reach.workspaceId], bound: [], endpoints: [] };
  const rows = (yield* all(ofAccount(accountId))).filter(
    (row) =>
      (reach === null || row.workspace_id === reach.workspaceId) &&
      (access === null || refusalOf(toStanding(row), access) === null),
  );
  const bound = rows.filter((row) => row.endpoints !== null);
  return {
    whole: rows.filter((row) => row.endpoints === null).map((row) => row.workspace_id),
    bound: bound.map((row) => row.workspace_id),
    endpoints: bound.flatMap((row) => toStanding(row).endpoints ?? []),
  };
}

/**
 * Checks the access for an operation on everything that the actor sees.
 *
 * @throws forbidden, naming a role, if the actor is a member of workspaces and the standing is enough in none of them
 */
export function* requireAnywhere(viewing: Viewing, access: Access): Steps<void> {
  if (ruleOf(access).role === null) return;
  const allowed = yield* findSight(viewing, access);
  if (allowed === null || allowed.whole.length + allowed.bound.length > 0) return;
  const { accountId, reach = null } = viewing;
  const rows = accountId === null ? [] : yield* all(ofAccount(accountId));
  const row = rows.find((each) => reach === null || each.workspace_id === reach.workspaceId);
  if (row !== undefined) requireStanding(toStanding(row), access);
}

/**
 * The accesses of `asked` that an account has in none of its workspaces. The set is empty for an operator and for an account that is a
 * member of no workspace.
 */
export function* listClosed(viewing: Viewing, asked: readonly Access[]): Steps<ReadonlySet<Access>> {
  const { accountId, isOperator } = viewing;
  if (isOperator || accountId === null) return new Set();
  const standings = (yield* all(ofAccount(accountId))).map(toStanding);
  const isOpen = (access: Access): boolean => standings.some((each) => refusalOf(each, access) === null);
  return new Set(standings.length === 0 ? [] : asked.filter((access) => !isOpen(access)));
}

/** Whether an account has an access in one of its workspaces, or would have it in its first one. */
export function* mayAnywhere(viewing: Viewing, access: Access): Steps<boolean> {
  return !(yield* listClosed(viewing, [access])).has(access);
}

/** Whether an actor has an access for any of these endpoints. */
export function* mayWithAny(
  viewing: Viewing,
  access: Access,
  endpoints: readonly { readonly id: string; readonly workspaceId: string }[],
): Steps<boolean> {
  const sight = yield* findSight(viewing, access);
  if (sight === null) return true;
  return endpoints.some(
    ({ id, workspaceId }) => sight.whole.includes(workspaceId) || sight.endpoints.includes(id),
  );
}

/** Whether a member sees an endpoint of the workspace. */
export function seesEndpoint({ endpoints }: Pick<Standing, "endpoints">, endpointId: string): boolean {
  return endpoints === null || endpoints.includes(endpointId);
}

/** What editors may do that concerns no single endpoint. Whoever sees only some endpoints may do none of it. */
const OF_WORKSPACE: ReadonlySet<Access> = new Set(["endpoints:create", "members:read", "workspace:spam"]);

/** Why a standing is not enough for an access, naming the role; null if it is enough. */
export function refusalOf(
  { role, endpoints, mayExport, seesSpamDetails }: Standing,
  access: Access,
): FormsvcError | null {
  const needed = ruleOf(access).role;
  if (needed !== null && !includesRole(role, needed))
    return refused(`the role ${role} in this workspace may not do that; it needs ${needed}`);
  if (endpoints !== null && OF_WORKSPACE.has(access)) return refusedToBound(role);
  const switchedOff = (what: string): FormsvcError =>
    refused(`the role ${role} in this workspace may not ${what}: it is switched off`);
  if (access === "submissions:export" && !mayExport) return switchedOff("export");
  if (access === "spam:details" && !seesSpamDetails) return switchedOff("see why posts scored");
  return null;
}

/** @throws forbidden naming the role */
export function requireStanding(standing: Standing, access: Access): void {
  const refusal = refusalOf(standing, access);
  if (refusal !== null) throw refusal;
}

/**
 * Checks the access for something that concerns a whole workspace.
 *
 * @throws forbidden, naming the role; also for an actor who sees only some of its endpoints, unless the access is to read
 */
export function requireForWhole(standing: Standing, access: Access): void {
  requireStanding(standing, access);
  const { role, endpoints } = standing;
  if (endpoints === null || !needsWhole(access)) return;
  throw refusedToBound(role);
}

/** Whether an access to a workspace is refused to a member who sees only some of its endpoints. */
export function needsWhole(access: Access): boolean {
  return ruleOf(access).role !== "reader";
}

function refusedToBound(role: Role): FormsvcError {
  return refused(`the role ${role} of some forms may not do that: it concerns the whole workspace`);
}

function refused(message: string): FormsvcError {
  return new FormsvcError("forbidden", message);
}

function ofAccount(accountId: string) {
  return query.selectFrom("member").selectAll().where("account_id", "=", accountId).orderBy("workspace_id");
}

/** A standing as rows store it. */
type StandingRow = Pick<
  Selectable<Tables["member"]>,
  "role" | "endpoints" | "may_export" | "sees_spam_details"
>;

export function toStanding(row: StandingRow): Standing & Pick<StandingRow, "role"> {
  return {
    role: row.role,
    endpoints: row.endpoints === null ? null : (JSON.parse(row.endpoints) as string[]),
    mayExport: row.may_export === 1,
    seesSpamDetails: row.sees_spam_details === 1,
  };
}
