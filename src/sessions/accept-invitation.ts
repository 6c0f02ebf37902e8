import { recordChange } from "../audit/audit-store.ts";
import type { Steps } from "../database/steps.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { isSameAddress } from "../foundation/mail-address.ts";
import { describeMembership, namesOf } from "../members/membership.ts";
import { becomeMember, findInvitationOf, type FoundInvitation } from "../workspaces/invitation-store.ts";
import type { Membership } from "../workspaces/member-store.ts";
import { noteDoubt, noteEmailProved } from "../workspaces/proved-email.ts";
import { signUp } from "../workspaces/sign-up.ts";
import { findAccountByEmail, getWorkspace } from "../workspaces/workspace-store.ts";
import type { Trier } from "./attempt-limits.ts";
import { storePassword } from "./credential-store.ts";
import {
  beginSession,
  type Client,
  type EnteredSession,
  noting,
  type SignInParts,
  reportSignIn,
} from "./note-sign-in.ts";
import { requirePasswords } from "./password.ts";
import { hashChosen, type LinkProof } from "./use-link.ts";

/** What the page of an invitation shows to the holder of its link. */
export interface ShownInvitation {
  readonly id: string;
  readonly email: string;
  readonly workspaceName: string;
  /** The address of the account that invites; null if an operator on the machine does. */
  readonly by: string | null;
  readonly membership: Membership;
  /** The names of the endpoints that the member would see; null means all. */
  readonly names: readonly string[] | null;
  /** Whether the address has an account, which must then accept the invitation itself. */
  readonly hasAccount: boolean;
}

const WRONG =
  "This invitation was used, withdrawn or replaced by a newer one, or is older than 7 days. Ask whoever invited you for another.";
const HAS_ACCOUNT =
  "There is an account with this address. Sign in with it, and accept the invitation there.";

/**
 * Shows an invitation by its link, and does not use the link up. A wrong token counts like a wrong password. @throws unauthorized,
 * rate_limited
 */
export function showInvitation(parts: SignInParts, token: string, client: Client): Promise<ShownInvitation> {
  const { db, limits, clock } = parts;
  return noting(parts, client, "invitation", async () => {
    const stranger: Trier = { address: client.address, known: null };
    limits.count(stranger);
    const shown = await db.read(() => read(token, clock.now()));
    if (shown === undefined) throw new FormsvcError("unauthorized", WRONG);
    limits.giveBack(stranger);
    return shown;
  });
}

/** Shows an invitation after an attempt to accept it, which was counted already; undefined if its link is not good. */
export function showInvitationAgain(
  { db, clock }: SignInParts,
  token: string,
): Promise<ShownInvitation | undefined> {
  return db.read(() => read(token, clock.now()));
}

function* read(token: string, now: number): Steps<ShownInvitation | undefined> {
  const found = yield* findInvitationOf(token, now);
  if (found === undefined) return undefined;
  const { id, email, by, workspaceId } = found.invitation;
  const { name: workspaceName } = yield* getWorkspace(workspaceId);
  const hasAccount = (yield* findAccountByEmail(email)) !== undefined;
  const names = yield* namesOf(workspaceId, found.invitation.endpoints);
  return { id, email, by, workspaceName, membership: found.invitation, names, hasAccount };
}

/**
 * Makes the account of the invited person, with its workspace and password, and makes it a member. @throws as {@link SignIns.confirmSignUp}
 */
export function acceptAsNew(
  parts: SignInParts,
  { token, newPassword }: Omit<LinkProof, "code">,
  client: Client,
): Promise<EnteredSession> {
  const { db, limits, clock } = parts;
  return noting(parts, client, "invitation", async () => {
    requirePasswords(parts.passwords);
    const stranger: Trier = { address: client.address, known: null };
    limits.count(stranger);
    await db.read(() => takeable(token, clock.now()));
    const passwordHash = await hashChosen(parts, newPassword, { holder: stranger, stranger });
    const entered = await db.transaction(function* () {
      const now = clock.now();
      const accountId = yield* join(parts, { ...(yield* takeable(token, now)), isNamed: false }, now);
      yield* storePassword(accountId, passwordHash, now);
      return { accountId, session: yield* beginSession(parts, accountId, client) };
    });
    limits.giveBack(stranger);
    reportSignIn(parts, { ...entered, by: "invitation" }, client);
    return entered.session;
  });
}

/**
 * Like {@link acceptAsNew}, for a person whom a trusted proxy names by the invited address. They need no password, and no session begins.
 *
 * @param email the address that the proxy names.
 */
export function acceptAsNamed(
  parts: SignInParts,
  { token, email }: { readonly token: string; readonly email: string },
  client: Client,
): Promise<void> {
  const { db, limits, clock } = parts;
  return noting(parts, client, "invitation", async () => {
    const stranger: Trier = { address: client.address, known: null };
    limits.count(stranger);
    await db.transaction(function* () {
      const found = yield* takeable(token, clock.now());
      if (!isSameAddress(found.invitation.email, email)) throw new FormsvcError("unauthorized", WRONG);
      yield* join(parts, { ...found, isNamed: true }, clock.now());
    });
    limits.giveBack(stranger);
  });
}

/** Finds an invitation whose address has no account. @throws unauthorized */
function* takeable(token: string, now: number): Steps<FoundInvitation> {
  const found = yield* findInvitationOf(token, now);
  if (found === undefined) throw new FormsvcError("unauthorized", WRONG);
  if ((yield* findAccountByEmail(found.invitation.email)) !== undefined)
    throw new FormsvcError("unauthorized", HAS_ACCOUNT);
  return found;
}

interface Acceptance extends FoundInvitation {
  /** Whether a trusted proxy names the holder of the address. */
  readonly isNamed: boolean;
}

/** Makes the account and the membership. Returns the id of the account. */
function* join(
  { newWorkspacePlan }: SignInParts,
  { invitation, isMailed, isNamed }: Acceptance,
  now: number,
): Steps<string> {
  const { workspaceId, isByOperator } = invitation;
  const { account } = yield* signUp(invitation.email, newWorkspacePlan, now, "accepted an invitation");
  if (isMailed) yield* noteEmailProved(account.id, now);
  else if (!isByOperator && !isNamed) yield* noteDoubt(account.id);
  yield* becomeMember(invitation, account.id, now);
  const actor = { accountId: account.id, email: account.email };
  const change = { subject: account.email, workspaceId, detail: describeMembership(invitation) };
  yield* recordChange(actor, { action: "member.accept", ...change }, now);
  return account.id;
}
