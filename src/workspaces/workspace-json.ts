import { z } from "zod";
import { toIsoTime } from "../foundation/clock.ts";
import type { Account, PlanLimits, Usage, Workspace } from "./workspace.ts";

/** Accounts, workspaces, plans and usage as every JSON output shows them. */

export function accountJson(account: Account) {
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
  created_at: z.string(),
});

export function workspaceJson(workspace: Workspace): z.output<typeof workspaceShape> {
  return {
    id: workspace.id,
    account_id: workspace.accountId,
    name: workspace.name,
    plan: workspace.plan,
    created_at: toIsoTime(workspace.createdAt),
  };
}

export function limitsJson({ monthlySubmissions, endpoints, customSpam, heldBytes = null }: PlanLimits) {
  return {
    monthly_submissions: monthlySubmissions,
    endpoints,
    custom_spam: customSpam,
    held_bytes: heldBytes,
  };
}

export function usageJson({ workspaceId, plan, month, used, limit, remaining }: Usage) {
  return { workspace_id: workspaceId, plan, month, used, limit, remaining };
}
