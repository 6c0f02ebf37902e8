import { type Database, query } from "../database/database.ts";
import { all } from "../database/steps.ts";
import { type Clock, monthOf } from "../foundation/clock.ts";
import type { Metrics } from "../foundation/metrics.ts";
import { findLimits, type Plans } from "./workspace.ts";

/** The largest number of workspaces that are shown, the fullest first, because each is a time series of its own. */
const MAX_SHOWN_WORKSPACES = 100;

export function measureUsage(metrics: Metrics, db: Database, plans: Plans, clock: Clock): void {
  const busiest = (): Promise<{ id: string; plan: string; used: number }[]> =>
    db.read(() =>
      all(
        query
          .selectFrom("usage")
          .innerJoin("workspace", "workspace.id", "usage.workspace_id")
          .select(["workspace.id", "workspace.plan", "usage.used"])
          .where("usage.month", "=", monthOf(clock.now()))
          .orderBy("usage.used", "desc")
          .limit(MAX_SHOWN_WORKSPACES),
      ),
    );
  metrics.gauges(
    "formsvc_workspace_used_submissions",
    "Submissions accepted this month, of the busiest workspaces.",
    "workspace",
    async () => new Map((await busiest()).map(({ id, used }) => [id, used])),
  );
  metrics.gauges(
    "formsvc_workspace_limit_submissions",
    "Monthly limit of the same workspaces; none if it is unlimited or the server does not know the plan.",
    "workspace",
    async () =>
      new Map(
        (await busiest()).flatMap(({ id, plan }) => {
          const limit = findLimits(plans, plan)?.monthlySubmissions ?? null;
          return limit === null ? [] : [[id, limit] as const];
        }),
      ),
  );
}
