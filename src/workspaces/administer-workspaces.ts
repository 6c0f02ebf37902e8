import { type Actor, recordChange } from "../audit/audit-store.ts";
import type { Steps } from "../database/steps.ts";
import { FormsvcError } from "../foundation/errors.ts";
import type { Account, Plans, Workspace } from "./workspace.ts";
import { createAccount, createWorkspace, hasAccounts, setPlan } from "./workspace-store.ts";

/** What an operator does to accounts and workspaces. Each records who did it; null is the command line. */

/** Why nobody can sign up to an empty database. */
export const NO_OPERATOR = "Nobody can sign up yet: whoever runs this server makes their own account first.";

/**
 * As {@link createAccount}.
 *
 * @param actor "itself" is somebody who signs up. @throws usage, already_exists; unavailable when somebody signs up and there is
 *   no account yet: the first one sees everything, and belongs to whoever runs the server.
 */
export function* addAccount(
  actor: Actor | "itself" | null,
  email: string,
  plan: string,
  now: number,
): Steps<{ account: Account; workspace: Workspace }> {
  const signsUp = actor === "itself";
  if (signsUp && !(yield* hasAccounts())) throw new FormsvcError("unavailable", NO_OPERATOR);
  const made = yield* createAccount(email, now, plan);
  const by = signsUp ? { accountId: made.account.id, email: made.account.email } : actor;
  const detail = signsUp ? "signed up" : null;
  const change = { subject: made.account.email, workspaceId: made.workspace.id, detail };
  yield* recordChange(by, { action: "account.create", ...change }, now);
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
