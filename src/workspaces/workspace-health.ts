import type { Database } from "../database/database.ts";
import { monthOf } from "../foundation/clock.ts";
import { type Finding, problem, sound } from "../foundation/finding.ts";
import type { Plans } from "./workspace.ts";
import { listWorkspaces, readUsage } from "./workspace-store.ts";

/** Share of a monthly limit from which on there should be time left to do something. */
const CLOSE_TO_FULL = 0.9;

/** One finding for each workspace that is close to its monthly limit; one in all where none is. */
export function checkMonthlyLimits(db: Database, plans: Plans, now: number): Finding[] {
  const usages = listWorkspaces(db).map((workspace) => readUsage(db, workspace, monthOf(now), plans));
  const close = usages.filter(({ used, limit }) => limit !== null && used >= limit * CLOSE_TO_FULL);
  if (close.length === 0) return [sound("limits.monthly", "no workspace is close to its monthly limit")];
  return close.map(({ workspaceId, used, limit, plan }) =>
    problem(
      "limits.monthly",
      `${workspaceId} has used ${used} of ${limit} submissions of the plan ${plan}`,
      `formsvc workspace set-plan ${workspaceId} PLAN`,
    ),
  );
}
