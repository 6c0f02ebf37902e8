import { z } from "zod";
import { toIsoTime } from "../foundation/clock.ts";
import { type Member, MEMBER_ROLES, type Membership } from "../workspaces/member-store.ts";

/** Members as every JSON output shows them. */

export const roleShape = z.enum(MEMBER_ROLES);

const membershipShape = {
  role: roleShape,
  endpoints: z
    .array(z.string())
    .readonly()
    .nullable()
    .describe("The only ones that are seen; null is all of the workspace, later ones too."),
  export: z.boolean().describe("Whether posts may be exported."),
  spam_details: z.boolean().describe("Whether it is shown why posts scored."),
};

export const memberShape = z.strictObject({
  account_id: z.string().nullable().describe("Null if nobody with an account was invited."),
  email: z.string(),
  ...membershipShape,
  state: z.enum(["member", "invited"]),
  since: z.string(),
  by: z.string().nullable().describe("The address of who invited them; null is whoever runs the server."),
});

export type MemberJson = z.output<typeof memberShape>;

export function membershipJson({ role, endpoints, mayExport, seesSpamDetails }: Membership) {
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
