import { sql } from "kysely";
import { type Database, query } from "../database/database.ts";
import { type Clock, monthOf } from "../foundation/clock.ts";
import type { Metrics } from "../foundation/metrics.ts";
import { findLimits, type Plans } from "./workspace.ts";

/** Workspaces that are shown, the fullest first: each is a time series of its own. */
const MAX_SHOWN_WORKSPACES = 100;

export function measureUsage(metrics: Metrics, db: Database, plans: Plans, clock: Clock): void {
  const busiest = (): { id: string; plan: string; used: number }[] => {
    const found = sql<{ id: string; plan: string; used: number }>`
      SELECT workspace.id, workspace.plan, usage.used FROM usage JOIN workspace ON workspace.id = usage.workspace_id
      WHERE usage.month = ${monthOf(clock.now())} ORDER BY usage.used DESC LIMIT ${MAX_SHOWN_WORKSPACES}
    `.compile(query);
    return db.all<{ id: string; plan: string; used: number }>({ compile: () => found });
  };
  metrics.gauges(
    "formsvc_workspace_used_submissions",
    "Submissions accepted this month, of the busiest workspaces.",
    "workspace",
    () => new Map(busiest().map(({ id, used }) => [id, used])),
  );
  metrics.gauges(
    "formsvc_workspace_limit_submissions",
    "Monthly limit of the same workspaces; none where it is unlimited or the server does not know the plan.",
    "workspace",
    () =>
      new Map(
        busiest().flatMap(({ id, plan }) => {
          const limit = findLimits(plans, plan)?.monthlySubmissions ?? null;
          return limit === null ? [] : [[id, limit] as const];
        }),
      ),
  );
}
