import { query } from "../database/database.ts";
import { LISTED, listParameter } from "../database/list-parameter.ts";
import { all, first, run, type Steps, text } from "../database/steps.ts";
import { countOf } from "../foundation/count-of.ts";
import { FormsvcError } from "../foundation/errors.ts";
import {
  findLimits,
  limitsOf,
  type NamedUsage,
  type Plans,
  type Usage,
  type Workspace,
} from "./workspace.ts";
import { getWorkspace } from "./workspace-store.ts";

/** @param month `YYYY-MM`, UTC. */
export function* readUsage(workspace: Workspace, month: string, plans: Plans): Steps<Usage> {
  const row = yield* first(
    query
      .selectFrom("usage")
      .select("used")
      .where("workspace_id", "=", workspace.id)
      .where("month", "=", month),
  );
  return toUsage(workspace, { month, used: row?.used ?? 0 }, plans);
}

const USED_SQL = `SELECT workspace_id AS id, used FROM usage
  WHERE workspace_id IN ${LISTED} AND month = ?`;

/** Like {@link readUsage}, for each of these workspaces whose plan is configured, in their order. */
export function* readUsages(
  workspaces: readonly Workspace[],
  month: string,
  plans: Plans,
): Steps<NamedUsage[]> {
  const ids = listParameter(workspaces.map(({ id }) => id));
  const rows = yield* all(text<{ id: string; used: number }>(USED_SQL, ids, month));
  const used = new Map(rows.map((row) => [row.id, row.used]));
  return workspaces.flatMap((workspace) => {
    if (findLimits(plans, workspace.plan) === undefined) return [];
    const usage = toUsage(workspace, { month, used: used.get(workspace.id) ?? 0 }, plans);
    return [{ ...usage, name: workspace.name }];
  });
}

function toUsage({ id, plan }: Workspace, { month, used }: MonthUse, plans: Plans): Usage {
  const limit = limitsOf(plans, plan).monthlySubmissions;
  const remaining = limit === null ? null : Math.max(0, limit - used);
  return { workspaceId: id, plan, month, used, limit, remaining };
}

/** A month in which submissions were counted. */
export interface MonthUse {
  /** `YYYY-MM`, UTC. */
  readonly month: string;
  readonly used: number;
}

/** The months from `since` on in which a workspace accepted submissions, oldest first. @param since `YYYY-MM` */
export function* listUsage(workspaceId: string, since: string): Steps<MonthUse[]> {
  const rows = query.selectFrom("usage").select(["month", "used"]).where("workspace_id", "=", workspaceId);
  return yield* all(rows.where("month", ">=", since).orderBy("month"));
}

/** Counts one more submission in a month. @throws not_found; plan_limit if the month is full */
export function* countSubmission(workspaceId: string, month: string, plans: Plans): Steps<void> {
  const workspace = yield* getWorkspace(workspaceId);
  const usage = yield* readUsage(workspace, month, plans);
  if (usage.remaining === 0) {
    throw new FormsvcError(
      "plan_limit",
      `the plan ${workspace.plan} allows ${countOf(usage.limit ?? 0, "submission")} a month and all are used`,
      { hint: { kind: "release_later_or_change_plan" } },
    );
  }
  const used = usage.used + 1;
  yield* run(
    query
      .insertInto("usage")
      .values({ workspace_id: workspace.id, month, used })
      .onConflict((conflict) => conflict.columns(["workspace_id", "month"]).doUpdateSet({ used })),
  );
}
