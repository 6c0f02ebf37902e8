import { z } from "zod";
import { dashboardAddress } from "../config/dashboard-address.ts";
import type { Steps } from "../database/steps.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { isSameAddress, parseMailAddress } from "../foundation/mail-address.ts";
import { writeInvitation } from "../mail/recipients/ask-invited.ts";
import type { StoredLetters } from "../mail/letters/stored-letters.ts";
import { shownOnce } from "../operations/marks.ts";
import { changed, type Context, operation, type OwnChange } from "../operations/operation.ts";
import { askerOf } from "../recipients/limited-account.ts";
import {
  becomeMember,
  findInvitationOf,
  storeInvitation,
  type Invitation,
  listInvitations,
  listOwnInvitations,
  makeInvitationToken,
  removeInvitation,
} from "../workspaces/invitation-store.ts";
import { findMember, listMembers, MAX_MEMBERS } from "../workspaces/member-store.ts";
import { noteEmailProved } from "../workspaces/proved-email.ts";
import { reachWorkspace } from "../workspaces/reach.ts";
import { checkEmail, type Workspace } from "../workspaces/workspace.ts";
import { findAccount, findAccountByEmail } from "../workspaces/workspace-store.ts";
import { invitationJson, invitationShape, roleShape } from "./member-json.ts";
import { memberReference, ownAccount } from "./member-operations.ts";
import { changeMembership, describeMembership, EVERYTHING, membershipInput } from "./membership.ts";

/** The parts that send an invitation. */
export interface InvitationParts {
  /** Sends the letter; null in a command: a running server finds its letter. */
  readonly storedLetters: Pick<StoredLetters, "wake"> | null;
  /** The address at which people open the dashboard; null if it is not known. */
  readonly dashboardUrl: string | null;
}

/**
 * Invites somebody. If there is a mail server, a letter has the link. The link in the answer does not prove the address, so if there is a
 * letter, only operators get that link too, because they are trusted to know the address.
 */
export const inviteMember = operation({
  name: "member.invite",
  summary:
    "Invite somebody to a workspace, by a letter or a link to hand over: for 7 days, once, and for that address only",
  kind: "write",
  access: "members:write",
  input: z.strictObject({ ...memberReference, role: roleShape, ...membershipInput }),
  output: z.strictObject({
    invitation: invitationShape,
    url: shownOnce(
      z
        .string()
        .nullable()
        .describe("The link to hand over, which is shown only now; null if a letter with it was sent."),
    ),
  }),
  async run(context: Context<InvitationParts>, { workspace: reference, email: given, role, ...asked }) {
    const { now, parts, viewing } = context;
    const made = await context.transact(function* () {
      const workspace = yield* reachWorkspace(context, reference);
      const email = addressOf(given);
      yield* refuseMember(workspace, email);
      const before = { ...EVERYTHING, role };
      const membership = yield* changeMembership(context, workspace, before, { role, ...asked });
      const byAccountId = ownAccount(context);
      const making = { workspaceId: workspace.id, email, byAccountId, isByOperator: viewing.isOperator };
      const id = yield* storeInvitation({ ...making, madeAt: now }, membership);
      yield* requireRoom(workspace.id, now);
      const isMailed = yield* send(context, id, email);
      const token =
        isMailed && !viewing.isOperator ? null : yield* makeInvitationToken(id, "handed_hash", now);
      const invitation = { ...making, ...membership, id, madeAt: now, by: null };
      return changed({ invitation: invitationJson(invitation), token }, changeOf(invitation));
    });
    parts.storedLetters?.wake();
    const base = parts.dashboardUrl ?? `${dashboardAddress(context.config)}/dashboard`;
    const url = made.token === null ? null : `${base}/invitation#${made.token}`;
    return { invitation: made.invitation, url };
  },
});

/** @throws usage if no mail server accepts the address, because nobody could prove that it is theirs. */
function addressOf(given: string): string {
  const email = checkEmail(given);
  if (parseMailAddress(email) !== null) return email;
  throw new FormsvcError("usage", `no mail server takes the address ${JSON.stringify(email)}`);
}

/** @throws already_exists if the address belongs to a member. */
function* refuseMember({ id, name }: Workspace, email: string): Steps<void> {
  const account = yield* findAccountByEmail(email);
  const member = account && (yield* findMember(id, account.id));
  if (member !== undefined)
    throw new FormsvcError("already_exists", `${member.email} is a member of ${name} already`);
}

/** Checks the limit. Call after the invitation is stored, because it may have replaced one. @throws usage */
function* requireRoom(workspaceId: string, now: number): Steps<void> {
  const members = yield* listMembers(workspaceId);
  const invited = yield* listInvitations(workspaceId, now);
  if (members.length + invited.length > MAX_MEMBERS)
    throw new FormsvcError("usage", `a workspace has at most ${MAX_MEMBERS} members and invitations`);
}

/** Writes the letter. Returns false if there is no mail server or no address to send it to. @throws rate_limited */
function* send(
  { actor, config, now, parts }: Context<InvitationParts>,
  invitationId: string,
  email: string,
): Steps<boolean> {
  const { dashboardUrl } = parts;
  const address = parseMailAddress(email);
  if (config.mail.host === null || dashboardUrl === null || address === null) return false;
  const perHour = config.mail.limits.confirmationsPerHour;
  yield* writeInvitation({ invitationId, address, asker: askerOf(actor), dashboardUrl, perHour }, now);
  return true;
}

const invitationReference = {
  invitation: z.string().describe("Id of the invitation."),
  token: z
    .string()
    .default("")
    .describe("The token in the link of the invitation; empty if the link was not followed."),
};
const answered = z.strictObject({ invitation: invitationShape });

export const acceptInvitation = operation({
  name: "member.accept",
  summary: "Become a member, as an invitation to one’s own address offers",
  kind: "write",
  access: "own-account",
  input: z.strictObject(invitationReference),
  output: answered,
  *run(context, { invitation: id, token }) {
    const { invitation, isMailed, accountId } = yield* ownInvitation(context, id, token);
    if (isMailed) yield* noteEmailProved(accountId, context.now);
    if (!(yield* becomeMember(invitation, accountId, context.now))) throw gone();
    return changed({ invitation: invitationJson(invitation) }, changeOf(invitation));
  },
});

export const declineInvitation = operation({
  name: "member.decline",
  summary: "Decline an invitation to one’s own address",
  kind: "write",
  access: "own-account",
  input: z.strictObject(invitationReference),
  output: answered,
  *run(context, { invitation: id, token }) {
    const { invitation } = yield* ownInvitation(context, id, token);
    yield* removeInvitation(id);
    return changed({ invitation: invitationJson(invitation) }, changeOf(invitation));
  },
});

interface OwnInvitation {
  readonly invitation: Invitation;
  readonly isMailed: boolean;
  readonly accountId: string;
}

/**
 * The invitation of the link, for this account. @throws not_found, in the same words, if it is used, has expired, or is to another address.
 */
function* ownInvitation(context: Context, id: string, token: string): Steps<OwnInvitation> {
  const accountId = ownAccount(context);
  const account = accountId === null ? undefined : yield* findAccount(accountId);
  if (account === undefined) throw gone();
  const linked = token === "" ? undefined : yield* findInvitationOf(token, context.now);
  const { invitation, isMailed } = linked ?? { invitation: undefined, isMailed: false };
  if (invitation?.id === id && isSameAddress(invitation.email, account.email))
    return { invitation, isMailed, accountId: account.id };
  const own = (yield* listOwnInvitations(account.id, context.now)).find((each) => each.id === id);
  if (own === undefined) throw gone();
  return { invitation: own, isMailed: false, accountId: account.id };
}

function gone(): FormsvcError {
  return new FormsvcError(
    "not_found",
    "there is no such invitation: it was used, withdrawn or replaced, is older than 7 days, or is for another address",
  );
}

function changeOf(invitation: Invitation): OwnChange {
  const { email, workspaceId } = invitation;
  return { subject: email, workspaceId, detail: describeMembership(invitation) };
}
