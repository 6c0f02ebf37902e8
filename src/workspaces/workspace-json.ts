import { z } from "zod";
import { toIsoTime } from "../foundation/clock.ts";
import type { Account, PlanLimits, Usage, Workspace } from "./workspace.ts";

/** Accounts, workspaces, plans and usage as every JSON output shows them. */

export const accountShape = z.strictObject({
  id: z.string(),
  email: z.string(),
  is_operator: z.boolean().describe("Whether it sees every workspace and the whole installation."),
  created_at: z.string(),
});

export function accountJson(account: Account): z.output<typeof accountShape> {
  return {
    id: account.id,
    email: account.email,
    is_operator: account.isOperator,
    created_at: toIsoTime(account.createdAt),
  };
}

export const workspaceShape = z.strictObject({
  id: z.string(),
  account_id: z.string(),
  name: z.string(),
  plan: z.string(),
  time_zone: z.string().nullable().describe("Of the times in its e-mails, like Europe/Berlin; null is UTC."),
  created_at: z.string(),
});

export function workspaceJson(workspace: Workspace): z.output<typeof workspaceShape> {
  return {
    id: workspace.id,
    account_id: workspace.accountId,
    name: workspace.name,
    plan: workspace.plan,
    time_zone: workspace.timeZone,
    created_at: toIsoTime(workspace.createdAt),
  };
}

export const limitsShape = z.strictObject({
  monthly_submissions: z.number().nullable().describe("Null is unlimited, as with the others."),
  endpoints: z.number().nullable(),
  custom_spam: z.boolean(),
  held_bytes: z.number().nullable(),
  file_bytes: z.number().nullable(),
});

export function limitsJson({
  monthlySubmissions,
  endpoints,
  customSpam,
  heldBytes = null,
  fileBytes = null,
}: PlanLimits): z.output<typeof limitsShape> {
  return {
    monthly_submissions: monthlySubmissions,
    endpoints,
    custom_spam: customSpam,
    held_bytes: heldBytes,
    file_bytes: fileBytes,
  };
}

export const usageShape = z.strictObject({
  workspace_id: z.string(),
  plan: z.string(),
  month: z.string(),
  used: z.number(),
  limit: z.number().nullable(),
  remaining: z.number().nullable(),
});

export function usageJson({
  workspaceId,
  plan,
  month,
  used,
  limit,
  remaining,
}: Usage): z.output<typeof usageShape> {
  return { workspace_id: workspaceId, plan, month, used, limit, remaining };
}
