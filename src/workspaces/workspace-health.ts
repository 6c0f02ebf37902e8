import type { Steps } from "../database/steps.ts";
import { countOf } from "../foundation/count-of.ts";
import { monthOf } from "../foundation/clock.ts";
import { type Finding, problem, sound } from "../foundation/finding.ts";
import { findLimits, type Plans } from "./workspace.ts";
import { hasReached } from "./usage-mark.ts";
import { listWorkspaces } from "./workspace-store.ts";
import { readUsages } from "./usage-store.ts";

/** One finding for each workspace that is close to its monthly limit or whose plan is unknown; a single good one if there is none. */
export function* checkMonthlyLimits(plans: Plans, now: number): Steps<Finding[]> {
  const workspaces = yield* listWorkspaces();
  const planless = workspaces.filter(({ plan }) => findLimits(plans, plan) === undefined);
  const usages = yield* readUsages(workspaces, monthOf(now), plans);
  const close = usages.filter(({ used, limit }) => hasReached(used, limit, 80));
  const problems = planless.map(({ id, plan }) =>
    problem("limits.monthly", `${id} is on the plan ${plan}, which is not configured`, {
      kind: "configure_or_change_plan",
      workspaceId: id,
    }),
  );
  const full = close.map(({ workspaceId, used, limit, plan }) =>
    problem(
      "limits.monthly",
      `${workspaceId} has used ${used} of ${countOf(limit ?? 0, "submission")} of the plan ${plan}` +
        (hasReached(used, limit, 100) ? "; further posts are answered 429 and held" : ""),
      { kind: "change_plan", workspaceId },
    ),
  );
  if (problems.length + full.length > 0) return [...problems, ...full];
  return [sound("limits.monthly", "no workspace is close to its monthly limit")];
}
