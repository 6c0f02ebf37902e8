import type { Steps } from "../database/steps.ts";
import { FormsvcError } from "../foundation/errors.ts";
import type { SpamChoices, SpamSettings } from "../spam/spam-settings.ts";
import { chooseWorkspace, getWorkspace } from "../workspaces/workspace-store.ts";
import { limitsOf, type Plans, type Workspace } from "../workspaces/workspace.ts";
import { getEndpoint } from "./endpoint-store.ts";
import { readChoices, settingsFor, type SpamScope, writeChoices } from "./spam-choices-store.ts";

/** Whose spam settings are meant, with the workspace whose plan decides. */
export interface ChosenScope {
  readonly scope: SpamScope;
  readonly workspace: Workspace;
}

/** Names or ids; an endpoint stands above a workspace, and without both it is the only workspace there is. */
export interface ScopeReference {
  readonly endpoint: string | null;
  readonly workspace: string | null;
}

/** Inside a transaction: an empty database gets its first workspace. @throws not_found, ambiguous */
export function* chooseScope(
  { endpoint, workspace: reference }: ScopeReference,
  now: number,
  newWorkspacePlan: string,
): Steps<ChosenScope> {
  if (endpoint === null) {
    const workspace = yield* chooseWorkspace(reference, now, newWorkspacePlan);
    return { scope: { kind: "workspace", workspaceId: workspace.id }, workspace };
  }
  const { id, workspaceId } = yield* getEndpoint(endpoint);
  return {
    scope: { kind: "endpoint", workspaceId, endpointId: id },
    workspace: yield* getWorkspace(workspaceId),
  };
}

export interface SpamState {
  readonly plan: string;
  /** Whether the plan includes own settings. */
  readonly customSpam: boolean;
  /** What was chosen there, whether it counts or not. */
  readonly chosen: SpamChoices;
  /** All that holds there. */
  readonly settings: SpamSettings;
}

export function* readSpamState(
  { scope, workspace }: ChosenScope,
  plans: Plans,
  defaults: SpamSettings,
): Steps<SpamState> {
  const { customSpam } = limitsOf(plans, workspace.plan);
  const settings = yield* settingsFor(scope, defaults, customSpam);
  return { plan: workspace.plan, customSpam, chosen: yield* readChoices(scope), settings };
}

/** @throws plan_limit if the plan does not include own settings. */
export function requireCustomSpam(plan: string, plans: Plans): void {
  if (limitsOf(plans, plan).customSpam) return;
  throw new FormsvcError("plan_limit", `the plan ${plan} does not include own spam settings`, {
    hint: { kind: "choose_plan" },
  });
}

/** Takes effect at once, in running servers within a second. Returns the choices. @throws plan_limit, not_found */
export function* changeSpam({ scope }: ChosenScope, choices: SpamChoices, plans: Plans): Steps<SpamChoices> {
  // The plan may have changed since the scope was chosen.
  requireCustomSpam((yield* getWorkspace(scope.workspaceId)).plan, plans);
  yield* writeChoices(scope, choices);
  return choices;
}
