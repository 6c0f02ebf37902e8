import { z } from "zod";
import type { Steps } from "../database/steps.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { doerOf } from "../operations/actor.ts";
import { changed, type Context, operation, type OwnChange } from "../operations/operation.ts";
import { accountOf } from "../audit/audit-store.ts";
import {
  deleteInvitation,
  findInvitation,
  type Invitation,
  listInvitations,
} from "../workspaces/invitation-store.ts";
import {
  checkOtherOwner,
  findMember,
  listMembers,
  type Member,
  removeMember,
  storeMember,
} from "../workspaces/member-store.ts";
import { reachWorkspace } from "../workspaces/reach.ts";
import type { Workspace } from "../workspaces/workspace.ts";
import { findAccountByEmail } from "../workspaces/workspace-store.ts";
import { invitedJson, memberJson, memberShape, roleShape } from "./member-json.ts";
import { changeMembership, describeMembership, membershipInput } from "./membership.ts";

const workspace = z.string().describe("Id of the workspace, or its name if that is unique.");
export const memberReference = { workspace, email: z.string().describe("The e-mail address of the member.") };
const shown = z.strictObject({ member: memberShape });

export const listWorkspaceMembers = operation({
  name: "member.list",
  summary: "List who sees a workspace, and as what, and who is invited",
  kind: "read",
  access: "members:read",
  input: z.strictObject({ workspace }),
  output: z.strictObject({ data: z.array(memberShape) }),
  *run(context, { workspace: reference }) {
    const { id } = yield* reachWorkspace(context, reference);
    const invited = yield* listInvitations(id, context.now);
    return { data: [...(yield* listMembers(id)).map(memberJson), ...invited.map(invitedJson)] };
  },
});

export const showMember = operation({
  name: "member.show",
  summary: "Show what somebody is in a workspace, or is invited to be",
  kind: "read",
  access: "members:read",
  input: z.strictObject(memberReference),
  output: shown,
  *run(context, reference) {
    const { member, invitation } = yield* reachPerson(context, reference);
    return { member: invitation === undefined ? memberJson(member) : invitedJson(invitation) };
  },
});

export const setMember = operation({
  name: "member.set",
  summary: "Change what a member may do; what is not named stays",
  kind: "write",
  access: "members:write",
  input: z.strictObject({ ...memberReference, role: roleShape.optional(), ...membershipInput }),
  output: shown,
  *run(context, { workspace: name, email, ...asked }) {
    const { found, member: before, invitation } = yield* reachPerson(context, { workspace: name, email });
    if (invitation !== undefined)
      throw new FormsvcError(
        "conflict",
        `${email.slice(0, 254)} has not answered yet: invite them again as what they shall be`,
      );
    const membership = yield* changeMembership(context, found, before, asked);
    if (membership.role !== "owner") yield* checkOtherOwner(found, before);
    yield* storeMember(before, membership, { since: before.since, byAccountId: null });
    const member = { ...before, ...membership };
    return changed({ member: memberJson(member) }, changeOf(found, member, describeMembership(member)));
  },
});

/** Removes a member, on every server from the next request on, or withdraws an invitation. */
export const removeWorkspaceMember = operation({
  name: "member.remove",
  summary: "Take a workspace from a member, who sees nothing of it from then on, or withdraw an invitation",
  kind: "danger",
  access: "members:write",
  input: z.strictObject(memberReference),
  output: shown,
  *run(context, reference) {
    const { found, member, invitation } = yield* reachPerson(context, reference);
    if (invitation === undefined) return yield* end(found, member);
    yield* deleteInvitation(found.id, invitation.email);
    const change = { ...changeOf(found, invitation, "invitation"), action: "member.withdraw" } as const;
    return changed({ member: invitedJson(invitation) }, change);
  },
});

export const leaveWorkspace = operation({
  name: "member.leave",
  summary: "Leave a workspace oneself",
  kind: "danger",
  access: "members:leave",
  input: z.strictObject({ workspace }),
  output: shown,
  *run(context, { workspace: reference }) {
    const found = yield* reachWorkspace(context, reference);
    const own = ownAccount(context);
    const member = own === null ? undefined : yield* findMember(found.id, own);
    if (member === undefined) throw new FormsvcError("usage", "only a member can leave a workspace");
    return yield* end(found, member);
  },
});

/** A member, or an invited person, who is not a member yet. */
type Person =
  | { readonly member: Member; readonly invitation?: undefined }
  | { readonly member?: undefined; readonly invitation: Invitation };

/** A person and their workspace. @throws not_found, ambiguous, forbidden */
function* reachPerson(
  context: Context,
  { workspace: reference, email }: z.output<z.ZodObject<typeof memberReference>>,
): Steps<Person & { readonly found: Workspace }> {
  const found = yield* reachWorkspace(context, reference);
  const invitation = yield* findInvitation(found.id, email, context.now);
  return invitation === undefined ? { found, member: yield* getMember(found, email) } : { found, invitation };
}

function* end(found: Workspace, member: Member) {
  yield* checkOtherOwner(found, member);
  yield* removeMember(found.id, member.accountId);
  return changed({ member: memberJson(member) }, changeOf(found, member, member.role));
}

/** @throws not_found */
function* getMember({ id, name }: Workspace, email: string): Steps<Member> {
  const account = yield* findAccountByEmail(email);
  const member = account && (yield* findMember(id, account.id));
  if (member === undefined)
    throw new FormsvcError("not_found", `${email.slice(0, 254)} is no member of ${name}`);
  return member;
}

/** The account that does something, itself or by its token; null on the machine, and for a service token. */
export function ownAccount({ actor }: Pick<Context, "actor">): string | null {
  return accountOf(doerOf(actor))?.accountId ?? null;
}

function changeOf({ id }: Workspace, { email }: Pick<Member, "email">, detail: string): OwnChange {
  return { subject: email, workspaceId: id, detail };
}
