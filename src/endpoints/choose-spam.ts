import type { Steps } from "../database/steps.ts";
import { FormsvcError } from "../foundation/errors.ts";
import type { SpamChoices, SpamSettings } from "../spam/spam-settings.ts";
import { limitsOf, type Plans, type Workspace } from "../workspaces/workspace.ts";
import { readChoices, settingsFor, type SpamScope } from "./spam-choices-store.ts";

/** The endpoint or workspace whose spam settings are meant, with the workspace whose plan decides. */
export interface ChosenScope {
  readonly scope: SpamScope;
  readonly workspace: Workspace;
}

export interface SpamState {
  readonly plan: string;
  /** Whether the plan includes own spam settings. */
  readonly customSpam: boolean;
  /** The choices of this endpoint or workspace, whether the plan lets them count or not. */
  readonly chosen: SpamChoices;
  /** The settings in force. */
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

/** @throws plan_limit if the plan does not include own spam settings */
export function requireCustomSpam(plan: string, plans: Plans): void {
  if (limitsOf(plans, plan).customSpam) return;
  throw new FormsvcError("plan_limit", `the plan ${plan} does not include own spam settings`, {
    hint: { kind: "choose_plan" },
  });
}
