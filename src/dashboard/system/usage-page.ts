import type { Database } from "../../database/database.ts";
import { listFormBytes } from "../../files/file-room.ts";
import { listEndpoints } from "../../endpoints/endpoint-store.ts";
import type { Endpoint } from "../../endpoints/endpoint.ts";
import { monthOf, nextMonthStart } from "../../foundation/clock.ts";
import { countSubmissions } from "../../submissions/find/count-submissions.ts";
import { findLimits, type Workspace } from "../../workspaces/workspace.ts";
import { getViewableWorkspace, listViewableWorkspaces } from "../../workspaces/workspace-store.ts";
import { listUsage, readUsages } from "../../workspaces/usage-store.ts";
import { isInReach } from "../../workspaces/reach.ts";
import { requireAnywhere } from "../../workspaces/standing.ts";
import { labelWorkspaces } from "../../workspaces/label-workspaces.ts";
import { page } from "../answer.ts";
import type { DashboardParts } from "../parts.ts";
import type { Routes, Visit } from "../routes.ts";
import { everyMonth, isMonth, lastMonths, monthStart } from "./usage-months.ts";
import { usageOverview, type WorkspaceUse } from "./usage-overview.ts";
import { noWorkspaceView, type StoredPosts, usageView } from "./usage-view.ts";

/** The largest number of endpoints whose posts are counted for one page. */
const MAX_ENDPOINTS = 50;
/**
 * The largest number of posts that are counted for one endpoint and month; this takes 40 ms, in slices. A larger number is shown as "more
 * than".
 */
const MOST_COUNTED = 200_000;

/** `/dashboard/usage`: what counted towards the plan, by month and by endpoint. */
export function usagePages(routes: Routes, { db, config }: DashboardParts): void {
  routes.read("/usage", async (visit) => {
    const { query, now } = visit;
    const workspaces = await db.read(function* () {
      yield* requireAnywhere(visit.viewer, "workspace:usage");
      return yield* listViewableWorkspaces(visit.viewer, "workspace:usage");
    });
    const months = lastMonths(now);
    const given = query.get("month") ?? "";
    const month = isMonth(given) ? given : monthOf(now);
    if (workspaces.length > 1 && (query.get("workspace") ?? "") === "")
      return page("Usage", usageOverview({ uses: await readUses(workspaces, month), month, months, query }));
    const workspace = await chosenWorkspace(visit, workspaces);
    if (workspace === null) return page("Usage", noWorkspaceView());
    const read = await readWorkspaceUse(workspace, months, month);
    return page("Usage", usageView({ ...read, isOneOfSeveral: workspaces.length > 1, now }));
  });

  async function readWorkspaceUse(workspace: Workspace, months: readonly string[], month: string) {
    const counted = await db.read(() => listUsage(workspace.id, months[0] ?? month));
    const all = await db.read(() => listEndpoints(workspace.id));
    return {
      workspace,
      limits: findLimits(config.plans, workspace.plan) ?? null,
      months: everyMonth(counted, months),
      month,
      endpoints: await countEach(db, all.slice(0, MAX_ENDPOINTS), month),
      formBytes: await db.read(() => listFormBytes(workspace.id)),
      uncounted: Math.max(0, all.length - MAX_ENDPOINTS),
      heldDays: config.held.days,
    };
  }

  function readUses(workspaces: readonly Workspace[], month: string): Promise<WorkspaceUse[]> {
    return Promise.resolve(
      db.read(function* () {
        const labels = yield* labelWorkspaces(workspaces.map(({ id }) => id));
        const counted = yield* readUsages(workspaces, month, config.plans);
        const known = new Map(counted.map((one) => [one.workspaceId, one]));
        return workspaces.map((workspace) => ({
          workspace,
          label: labels.get(workspace.id) ?? workspace.name,
          used: known.get(workspace.id)?.used ?? 0,
          limit: known.get(workspace.id)?.limit,
        }));
      }),
    );
  }

  async function chosenWorkspace(
    { viewer, query }: Visit,
    workspaces: readonly Workspace[],
  ): Promise<Workspace | null> {
    const id = query.get("workspace") ?? "";
    if (id === "") return workspaces[0] ?? null;
    return db.read(function* () {
      const workspace = yield* getViewableWorkspace(viewer, id);
      yield* isInReach({ viewing: viewer, access: "workspace:usage" }, workspace.id);
      return workspace;
    });
  }
}

async function countEach(
  db: Database,
  endpoints: readonly Endpoint[],
  month: string,
): Promise<StoredPosts[]> {
  const since = monthStart(month);
  const counts: StoredPosts[] = [];
  for (const endpoint of endpoints) {
    const period = { endpointId: endpoint.id, since, until: nextMonthStart(since) };
    const posts = await countSubmissions(db, period, MOST_COUNTED);
    counts.push({ endpoint, posts: Math.min(posts, MOST_COUNTED), hasMore: posts > MOST_COUNTED });
  }
  return counts.toSorted((left, right) => right.posts - left.posts);
}
