import type { Selectable } from "kysely";
import { query } from "../database/database.ts";
import { all, first, run, type Steps, text } from "../database/steps.ts";
import type { Tables } from "../database/tables.generated.ts";
import { FormsvcError } from "../foundation/errors.ts";
import type { Role } from "../operations/access.ts";
import { type Standing, toStanding } from "./standing.ts";
import { type Workspace } from "./workspace.ts";
import { toWorkspace } from "./workspace-row.ts";

/** The roles of members. An operator is not a member. */
export const MEMBER_ROLES = ["owner", "editor", "reader"] as const;
export type MemberRole = Exclude<Role, "operator">;

/** What a member may do. */
export interface Membership extends Standing {
  readonly role: MemberRole;
}

/** The membership of a person, who is a member or is invited to be one. */
export interface PersonalMembership extends Membership {
  readonly workspaceId: string;
  readonly email: string;
  /** The present address of the account that gave the membership; null if no account gave it. */
  readonly by: string | null;
}

export interface Member extends PersonalMembership {
  readonly accountId: string;
  /** Milliseconds since 1970 UTC. */
  readonly since: number;
}

/** The largest number of members of one workspace, including those who are invited. */
export const MAX_MEMBERS = 200;

type MemberRow = Selectable<Tables["member"]> & { readonly email: string; readonly by: string | null };

function selectMembers(workspaceId: string) {
  return query
    .selectFrom("member")
    .innerJoin("account", "account.id", "member.account_id")
    .leftJoin("account as maker", "maker.id", "member.by_account_id")
    .selectAll("member")
    .select(["account.email as email", "maker.email as by"])
    .where("member.workspace_id", "=", workspaceId);
}

/** The members, owners first, and each role by address. */
export function* listMembers(workspaceId: string): Steps<Member[]> {
  const members = (yield* all(selectMembers(workspaceId).limit(MAX_MEMBERS))).map(toMember);
  return members.toSorted(
    (one, other) =>
      MEMBER_ROLES.indexOf(one.role) - MEMBER_ROLES.indexOf(other.role) || (one.email < other.email ? -1 : 1),
  );
}

export function* findMember(workspaceId: string, accountId: string): Steps<Member | undefined> {
  const row = yield* first(selectMembers(workspaceId).where("member.account_id", "=", accountId));
  return row === undefined ? undefined : toMember(row);
}

/** A workspace that a person is a member of, for their own page. */
export interface OwnMembership {
  readonly workspaceId: string;
  readonly name: string;
  readonly role: MemberRole;
}

/** An account's memberships, sorted by the workspaces' names; at most 200. */
export function listOwnMemberships(accountId: string): Steps<OwnMembership[]> {
  return all(
    query
      .selectFrom("member")
      .innerJoin("workspace", "workspace.id", "member.workspace_id")
      .select(["workspace.id as workspaceId", "workspace.name as name", "member.role as role"])
      .where("member.account_id", "=", accountId)
      .orderBy("workspace.name")
      .orderBy("workspace.id")
      .limit(MAX_MEMBERS),
  );
}

/** Makes somebody a member, or changes what a member may do. */
export function* storeMember(
  { workspaceId, accountId }: Pick<Member, "workspaceId" | "accountId">,
  membership: Membership,
  made: { readonly since: number; readonly byAccountId: string | null },
): Steps<void> {
  const may = {
    role: membership.role,
    endpoints: membership.endpoints && JSON.stringify(membership.endpoints),
    may_export: Number(membership.mayExport),
    sees_spam_details: Number(membership.seesSpamDetails),
  };
  yield* run(
    query
      .insertInto("member")
      .values({
        workspace_id: workspaceId,
        account_id: accountId,
        ...may,
        since: made.since,
        by_account_id: made.byAccountId,
      })
      .onConflict((conflict) => conflict.columns(["workspace_id", "account_id"]).doUpdateSet(may)),
  );
  if (membership.role !== "owner") yield* takeOwnership(workspaceId, accountId);
}

export function* removeMember(workspaceId: string, accountId: string): Steps<void> {
  yield* run(
    query.deleteFrom("member").where("workspace_id", "=", workspaceId).where("account_id", "=", accountId),
  );
  yield* takeOwnership(workspaceId, accountId);
}

/** Removes the rights of a former owner. A former owner has no say in who joins, so the open invitations that they made are deleted. */
function* takeOwnership(workspaceId: string, accountId: string): Steps<void> {
  yield* passOn(accountId, workspaceId);
  const open = query.deleteFrom("invitation").where("workspace_id", "=", workspaceId);
  yield* run(open.where("by_account_id", "=", accountId));
}

/** Makes one of its owners the one who gets the letters about a workspace. */
export function* nameOwner(workspaceId: string, accountId: string): Steps<void> {
  yield* run(query.updateTable("workspace").set({ account_id: accountId }).where("id", "=", workspaceId));
}

const PASS_ON_SQL = `UPDATE workspace SET account_id = (SELECT member.account_id FROM member
    WHERE member.workspace_id = workspace.id AND member.role = 'owner' AND member.account_id <> ?
    ORDER BY member.since, member.account_id LIMIT 1)
  WHERE account_id = ? AND (? = '' OR id = ?) AND EXISTS (SELECT 1 FROM member
    WHERE member.workspace_id = workspace.id AND member.role = 'owner' AND member.account_id <> ?)`;

/**
 * Names the next owner for the workspaces that name this account as their owner.
 *
 * @param workspaceId restricts this to one workspace; empty means all
 */
export function* passOn(accountId: string, workspaceId = ""): Steps<void> {
  yield* run(text(PASS_ON_SQL, accountId, accountId, workspaceId, workspaceId, accountId));
}

/** @throws conflict if the workspace has no other owner, because somebody must be able to do everything */
export function* checkOtherOwner(workspace: Pick<Workspace, "id" | "name">, member: Member): Steps<void> {
  if (member.role !== "owner") return;
  const others = query.selectFrom("member").select("account_id").where("workspace_id", "=", workspace.id);
  const other = others.where("role", "=", "owner").where("account_id", "<>", member.accountId).limit(1);
  if ((yield* first(other)) === undefined) throw isOnlyOwner(member.email, workspace.name);
}

export function isOnlyOwner(email: string, workspaceName: string): FormsvcError {
  return new FormsvcError(
    "conflict",
    `${email} is the only owner of ${workspaceName}: make another member an owner first`,
  );
}

const SOLE_SQL = `SELECT workspace.* FROM workspace JOIN member ON member.workspace_id = workspace.id
  WHERE member.account_id = ? AND member.role = 'owner' AND NOT EXISTS (SELECT 1 FROM member AS other
    WHERE other.workspace_id = workspace.id AND other.role = 'owner' AND other.account_id <> member.account_id)
  ORDER BY workspace.id`;

/** The workspaces whose only owner is this account. */
export function* listSolelyOwned(accountId: string): Steps<Workspace[]> {
  const rows = yield* all(text<Selectable<Tables["workspace"]>>(SOLE_SQL, accountId));
  return rows.map(toWorkspace);
}

/**
 * Removes an endpoint from the lists of endpoints that members and invited people of a workspace are limited to. Called when the endpoint
 * leaves the workspace.
 */
export function* unbindEndpoint(workspaceId: string, endpointId: string): Steps<void> {
  const members = query.selectFrom("member").select(["account_id", "endpoints"]);
  const ofMembers = members.where("workspace_id", "=", workspaceId).where("endpoints", "is not", null);
  for (const { account_id: accountId, endpoints } of yield* all(ofMembers)) {
    const left = without(endpoints, endpointId);
    if (left === null) continue;
    const member = query.updateTable("member").set({ endpoints: left }).where("account_id", "=", accountId);
    yield* run(member.where("workspace_id", "=", workspaceId));
  }
  const invited = query.selectFrom("invitation").select(["id", "endpoints"]);
  const ofInvited = invited.where("workspace_id", "=", workspaceId).where("endpoints", "is not", null);
  for (const { id, endpoints } of yield* all(ofInvited)) {
    const left = without(endpoints, endpointId);
    if (left !== null)
      yield* run(query.updateTable("invitation").set({ endpoints: left }).where("id", "=", id));
  }
}

/** A list of endpoints without one of them; null if the list does not contain it. */
function without(endpoints: string | null, endpointId: string): string | null {
  const named = JSON.parse(endpoints ?? "[]") as string[];
  return named.includes(endpointId) ? JSON.stringify(named.filter((id) => id !== endpointId)) : null;
}

function toMember(row: MemberRow): Member {
  return {
    ...toMembership(row),
    accountId: row.account_id,
    since: row.since,
  };
}

type MembershipRow = Parameters<typeof toStanding>[0] & Pick<MemberRow, "workspace_id" | "email" | "by">;

export function toMembership(row: MembershipRow): PersonalMembership {
  return { ...toStanding(row), workspaceId: row.workspace_id, email: row.email, by: row.by };
}
