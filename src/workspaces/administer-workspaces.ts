import { type Actor, recordChange } from "../audit/audit-store.ts";
import type { Steps } from "../database/steps.ts";
import type { Account, Plans, Workspace } from "./workspace.ts";
import { createAccount, createWorkspace, setPlan } from "./workspace-store.ts";

/** What an operator does to accounts and workspaces. Each records who did it; null is the command line. */

/** As {@link createAccount}. @throws usage, already_exists */
export function* addAccount(
  actor: Actor | null,
  email: string,
  plan: string,
  now: number,
): Steps<{ account: Account; workspace: Workspace }> {
  const made = yield* createAccount(email, now, plan);
  const change = { subject: made.account.email, workspaceId: made.workspace.id, detail: null };
  yield* recordChange(actor, { action: "account.create", ...change }, now);
  return made;
}

export interface NewWorkspace {
  readonly name: string;
  /** Id or e-mail address; null is the only account there is. */
  readonly account: string | null;
  readonly plan: string;
}

/** As {@link createWorkspace}. @throws usage, not_found, ambiguous */
export function* addWorkspace(
  actor: Actor | null,
  { name, account, plan }: NewWorkspace,
  now: number,
): Steps<Workspace> {
  const made = yield* createWorkspace(name, account, now, plan);
  const change = { subject: made.id, workspaceId: made.id, detail: made.name };
  yield* recordChange(actor, { action: "workspace.create", ...change }, now);
  return made;
}

export interface PlanChange {
  /** An id or a unique name; null is the only workspace there is. */
  readonly workspace: string | null;
  readonly plan: string;
  readonly plans: Plans;
}

/** As {@link setPlan}. @throws usage, not_found, ambiguous */
export function* changePlan(
  actor: Actor | null,
  { workspace, plan, plans }: PlanChange,
  now: number,
): Steps<Workspace> {
  const changed = yield* setPlan(workspace, plan, plans);
  const change = { subject: changed.id, workspaceId: changed.id, detail: plan };
  yield* recordChange(actor, { action: "workspace.set-plan", ...change }, now);
  return changed;
}
