import { hash, randomBytes } from "node:crypto";
import { type Selectable, sql } from "kysely";
import { query } from "../database/database.ts";
import { deleteSome } from "../database/some-rows.ts";
import { all, first, run, type Steps, textByEngine } from "../database/steps.ts";
import type { Tables } from "../database/tables.generated.ts";
import { newId } from "../foundation/id.ts";
import { isSameAddress } from "../foundation/mail-address.ts";
import {
  findMember,
  type Membership,
  type PersonalMembership,
  storeMember,
  toMembership,
} from "./member-store.ts";
import { findAccount } from "./workspace-store.ts";
import { WEEK_MS } from "../foundation/time-units.ts";

/** A person who was invited to become a member and has not answered. */
export interface Invitation extends PersonalMembership {
  readonly id: string;
  /** Milliseconds since 1970 UTC. */
  readonly madeAt: number;
  readonly byAccountId: string | null;
  /** Whether an operator made it. An operator's word for an address is accepted. */
  readonly isByOperator: boolean;
}

/** Who is invited, and by whom. */
export type InvitationMaking = Pick<
  Invitation,
  "workspaceId" | "email" | "byAccountId" | "isByOperator" | "madeAt"
>;

/** The invitation that a token belongs to. */
export interface FoundInvitation {
  readonly invitation: Invitation;
  /** Whether the token was sent in the letter. If so, whoever has it reads the mail of the address. */
  readonly isMailed: boolean;
}

/** 192 bits: 32 characters of base64url. */
const TOKEN_BYTES = 24;
const TOKEN = /^[\w-]{32}$/;
/** How long an invitation can be accepted, in milliseconds. */
export const INVITATION_LIFETIME_MS = WEEK_MS;
/** The largest number of rows deleted in one transaction. */
const BATCH_SIZE = 500;

type Row = Selectable<Tables["invitation"]> & { readonly by: string | null };

function selectInvitations(now: number) {
  return query
    .selectFrom("invitation")
    .leftJoin("account as maker", "maker.id", "invitation.by_account_id")
    .selectAll("invitation")
    .select("maker.email as by")
    .where("invitation.created_at", ">", now - INVITATION_LIFETIME_MS)
    .orderBy("invitation.id");
}

/** Stores an invitation and returns its id. It replaces an earlier one of the same address to the same workspace. */
export function* storeInvitation(
  { workspaceId, email, byAccountId, isByOperator, madeAt }: InvitationMaking,
  membership: Membership,
): Steps<string> {
  yield* deleteInvitation(workspaceId, email);
  const id = newId("inv", madeAt);
  const { role, endpoints, mayExport, seesSpamDetails } = membership;
  yield* run(
    query.insertInto("invitation").values({
      id,
      workspace_id: workspaceId,
      email,
      role,
      endpoints: endpoints && JSON.stringify(endpoints),
      may_export: Number(mayExport),
      sees_spam_details: Number(seesSpamDetails),
      handed_hash: null,
      mailed_hash: null,
      created_at: madeAt,
      by_account_id: byAccountId,
      by_operator: Number(isByOperator),
    }),
  );
  return id;
}

/**
 * Makes the token for one of an invitation's two links. An earlier token of the same kind becomes invalid. Null if the invitation was
 * accepted, withdrawn or replaced, or is too old.
 */
export function* makeInvitationToken(
  id: string,
  kind: "handed_hash" | "mailed_hash",
  now: number,
): Steps<string | null> {
  const token = randomBytes(TOKEN_BYTES).toString("base64url");
  const open = query.updateTable("invitation").where("id", "=", id);
  const made = open.where("created_at", ">", now - INVITATION_LIFETIME_MS).set({ [kind]: digest(token) });
  return (yield* run(made)) === 0 ? null : token;
}

/** Invitations that can still be accepted, oldest first. */
export function* listInvitations(workspaceId: string, now: number): Steps<Invitation[]> {
  const rows = selectInvitations(now).where("invitation.workspace_id", "=", workspaceId);
  return (yield* all(rows)).map(toInvitation);
}

/** The open invitations to an address, ignoring the case of ASCII letters, oldest first. */
export function* listInvitationsTo(email: string, now: number): Steps<Invitation[]> {
  const rows = yield* all(selectInvitations(now).where(isTo(email)));
  return rows.map(toInvitation).filter((invitation) => isSameAddress(invitation.email, email));
}

/** The invitations that an account is shown: none while the account is in doubt. */
export function* listOwnInvitations(accountId: string, now: number): Steps<Invitation[]> {
  const account = yield* findAccount(accountId);
  return account === undefined || account.isDoubtful ? [] : yield* listInvitationsTo(account.email, now);
}

export function* findInvitation(
  workspaceId: string,
  email: string,
  now: number,
): Steps<Invitation | undefined> {
  const rows = selectInvitations(now).where("invitation.workspace_id", "=", workspaceId).where(isTo(email));
  const row = yield* first(rows);
  return row !== undefined && isSameAddress(row.email, email) ? toInvitation(row) : undefined;
}

/** Undefined if the token is unknown, used, replaced or too old. */
export function* findInvitationOf(token: string, now: number): Steps<FoundInvitation | undefined> {
  if (!TOKEN.test(token)) return undefined;
  const hashed = digest(token);
  const row = yield* first(
    selectInvitations(now).where((eb) =>
      eb.or([eb("invitation.handed_hash", "=", hashed), eb("invitation.mailed_hash", "=", hashed)]),
    ),
  );
  return row && { invitation: toInvitation(row), isMailed: row.mailed_hash?.equals(hashed) === true };
}

/** Uses an invitation up; false if somebody used it before. A person who is a member already keeps their role. */
export function* becomeMember(invitation: Invitation, accountId: string, now: number): Steps<boolean> {
  const { id, workspaceId, byAccountId } = invitation;
  if (!(yield* removeInvitation(id))) return false;
  if ((yield* findMember(workspaceId, accountId)) === undefined)
    yield* storeMember({ workspaceId, accountId }, invitation, { since: now, byAccountId });
  return true;
}

/** Returns whether the invitation existed. */
export function* removeInvitation(id: string): Steps<boolean> {
  return (yield* run(query.deleteFrom("invitation").where("id", "=", id))) > 0;
}

/** Withdraws the invitation of an address. */
export function* deleteInvitation(workspaceId: string, email: string): Steps<void> {
  yield* run(query.deleteFrom("invitation").where("workspace_id", "=", workspaceId).where(isTo(email)));
}

/** Deletes up to 500 invitations that are too old. Returns the number. */
export function dropOldInvitations(now: number): Steps<number> {
  return run(textByEngine(DROP_OLD_SQL, now - INVITATION_LIFETIME_MS, BATCH_SIZE));
}

const DROP_OLD_SQL = deleteSome(
  "invitation",
  ["id"],
  (id) => `SELECT ${id} FROM invitation WHERE created_at <= ? LIMIT ?`,
);

/** A condition: the invitation is to this address, as the database compares addresses. PostgreSQL may take other letters for the same. */
function isTo(email: string) {
  return sql<boolean>`lower(invitation.email) = lower(${email})`;
}

function digest(token: string): Buffer {
  return hash("sha256", token, "buffer");
}

function toInvitation(row: Row): Invitation {
  return {
    ...toMembership(row),
    id: row.id,
    madeAt: row.created_at,
    byAccountId: row.by_account_id,
    isByOperator: row.by_operator === 1,
  };
}
