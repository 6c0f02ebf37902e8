import { z } from "zod";
import { toIsoTime } from "../foundation/clock.ts";
import { type Invitation, INVITATION_LIFETIME_MS } from "../workspaces/invitation-store.ts";
import { type Member, MEMBER_ROLES, type Membership } from "../workspaces/member-store.ts";

/** Members as every JSON output shows them. */

export const roleShape = z.enum(MEMBER_ROLES);

const membershipShape = {
  role: roleShape,
  endpoints: z
    .array(z.string())
    .readonly()
    .nullable()
    .describe(
      "The only endpoints that the member sees; null is all endpoints of the workspace, later ones too.",
    ),
  export: z.boolean().describe("Whether the member may export posts."),
  spam_details: z.boolean().describe("Whether the member sees the reasons for spam scores."),
};

export const memberShape = z.strictObject({
  account_id: z
    .string()
    .nullable()
    .describe(
      "Id of the account. Null for somebody who is invited: it is not shown whether they have an account.",
    ),
  email: z.string(),
  ...membershipShape,
  state: z.enum(["member", "invited"]),
  since: z.string().describe("When they became a member, or were invited."),
  by: z
    .string()
    .nullable()
    .describe("The e-mail address of the account that invited them; null is whoever runs the server."),
});

export type MemberJson = z.output<typeof memberShape>;

function membershipJson({ role, endpoints, mayExport, seesSpamDetails }: Membership) {
  return { role, endpoints, export: mayExport, spam_details: seesSpamDetails };
}

export function memberJson(member: Member): MemberJson {
  return {
    account_id: member.accountId,
    email: member.email,
    ...membershipJson(member),
    state: "member",
    since: toIsoTime(member.since),
    by: member.by,
  };
}

/** An invited person who has not answered yet. */
export function invitedJson(invitation: Invitation): MemberJson {
  return {
    account_id: null,
    email: invitation.email,
    ...membershipJson(invitation),
    state: "invited",
    since: toIsoTime(invitation.madeAt),
    by: invitation.by,
  };
}

export const invitationShape = z.strictObject({
  id: z.string(),
  email: z.string(),
  workspace_id: z.string(),
  ...membershipShape,
  expires_at: z.string(),
});

export function invitationJson(invitation: Invitation): z.output<typeof invitationShape> {
  const { id, email, workspaceId, madeAt } = invitation;
  const expiresAt = toIsoTime(madeAt + INVITATION_LIFETIME_MS);
  return { id, email, workspace_id: workspaceId, ...membershipJson(invitation), expires_at: expiresAt };
}
