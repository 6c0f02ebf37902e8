import { z } from "zod";
import { toIsoTime } from "../foundation/clock.ts";
import { SCOPES } from "../operations/access.ts";
import { volatile } from "../operations/marks.ts";
import { stateOf, type Token } from "./token.ts";

/** A token in the answer that shows it when it is made. */
export const tokenShape = z.strictObject({
  id: z.string(),
  name: z.string(),
  account: z
    .string()
    .nullable()
    .describe("E-mail address of the account that the token belongs to; null for a service token."),
  workspace_id: z
    .string()
    .nullable()
    .describe("Id of the workspace that a service token belongs to; null for a token of an account."),
  endpoint_id: z
    .string()
    .nullable()
    .describe(
      "Id of the only endpoint that a service token is for; null if it is for the whole workspace, and for a token of an account.",
    ),
  scopes: z.array(z.enum(SCOPES)),
  expires_at: z.string().nullable().describe("When the token expires; null is never."),
  last_used_on: volatile(
    z.string().nullable().describe("The day (UTC) on which the token was last used; null if it never was."),
  ),
  created_at: z.string(),
});

/** A token in lists. */
export const listedTokenShape = tokenShape.extend({ state: z.enum(["active", "expired", "revoked"]) });

/** @param email the address of the account that the token belongs to; null for a service token. */
export function tokenJson(token: Token, email: string | null): z.output<typeof tokenShape> {
  const { lastUsedAt, expiresAt } = token;
  return {
    id: token.id,
    name: token.name,
    account: email,
    workspace_id: token.workspaceId,
    endpoint_id: token.endpointId,
    scopes: [...token.scopes],
    expires_at: expiresAt === null ? null : toIsoTime(expiresAt),
    last_used_on: lastUsedAt === null ? null : toIsoTime(lastUsedAt).slice(0, 10),
    created_at: toIsoTime(token.createdAt),
  };
}

export function listedTokenJson(
  token: Token,
  email: string | null,
  now: number,
): z.output<typeof listedTokenShape> {
  return { ...tokenJson(token, email), state: stateOf(token, now) };
}
