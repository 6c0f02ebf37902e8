import { Readable } from "node:stream";
import { exportWorkspace } from "../../archive/export-workspace.ts";
import { transferWorkspace } from "../../members/transfer-workspace.ts";
import { deleteWorkspace } from "../../workspaces/delete-workspace.ts";
import { getViewableWorkspace } from "../../workspaces/workspace-store.ts";
import { renameWorkspace, setWorkspace } from "../../workspaces/workspace-operations.ts";
import { type Answer, download, page, redirect } from "../answer.ts";
import { NO_PROBLEMS, type Problems, problemsFrom } from "../kit/field.ts";
import { doneSoon } from "../kit/long-work.ts";
import type { DashboardParts } from "../parts.ts";
import type { Routes, Visit } from "../routes.ts";
import { brandWrites } from "./workspace-brand.ts";
import { STAYS, type TypedWorkspace, workspaceView } from "./workspace-view.ts";

/** The codes of errors that say that nobody of that address can own the workspace. */
const NO_OWNER: ReadonlySet<string> = new Set(["usage", "not_found"]);

/** `/dashboard/workspaces/:id`: the name and settings of a workspace, handing it over, and deleting it. */
export function workspacePages(routes: Routes, { db, log, workspaceContents }: DashboardParts): void {
  const show = async (visit: Visit, typed: Partial<TypedWorkspace>, problems: Problems): Promise<Answer> => {
    const id = visit.params["id"] ?? "";
    const workspace = await db.read(() => getViewableWorkspace(visit.viewer, id));
    const counts = await workspaceContents.count(db, workspace.id);
    const untouched = { name: workspace.name, confirm: "", to: "", stay: "", brand: workspace.brand };
    const content = workspaceView(workspace, counts, { ...untouched, ...typed }, problems);
    return page(workspace.name, content, problems.size === 0 ? 200 : 422);
  };

  routes.read("/workspaces/:id", (visit) => show(visit, {}, NO_PROBLEMS));
  brandWrites(routes, (visit, brand, problems) => show(visit, { brand }, problems));

  routes.write("/workspaces/:id", async (visit) => {
    const id = visit.params["id"] ?? "";
    const name = visit.form.get("name") ?? "";
    try {
      await visit.perform(renameWorkspace, { workspace: id, name });
      return redirect(`/dashboard/workspaces/${id}`, "saved");
    } catch (error) {
      return show(visit, { name }, problemsFrom(error, "name"));
    }
  });

  routes.write("/workspaces/:id/time-zone", async (visit) => {
    const id = visit.params["id"] ?? "";
    try {
      await visit.perform(setWorkspace, { workspace: id, time_zone: visit.form.get("time_zone") ?? "" });
      return redirect(`/dashboard/workspaces/${id}`, "saved");
    } catch (error) {
      return show(visit, {}, problemsFrom(error, "time_zone"));
    }
  });

  routes.write("/workspaces/:id/transfer", async (visit) => {
    const id = visit.params["id"] ?? "";
    const to = visit.form.get("to") ?? "";
    const stay = STAYS.find(({ value }) => value === visit.form.get("stay"))?.value ?? "";
    try {
      await visit.perform(transferWorkspace, { workspace: id, to, stay: stay === "" ? null : stay });
      return redirect("/dashboard/account", "workspace-transferred");
    } catch (error) {
      return show(visit, { to, stay }, problemsFrom(error, "to", NO_OWNER));
    }
  });

  routes.read("/workspaces/:id/export.zip", async ({ params, now, stream }) => {
    const parts = await stream(exportWorkspace, { workspace: params["id"] ?? "" });
    const content = Readable.from(bytesOf(parts), { objectMode: false });
    return download(`workspace-${new Date(now).toISOString().slice(0, 10)}.zip`, "application/zip", content);
  });

  routes.write("/workspaces/:id/delete", async (visit) => {
    const id = visit.params["id"] ?? "";
    const workspace = await db.read(() => getViewableWorkspace(visit.viewer, id));
    const confirm = visit.form.get("confirm") ?? "";
    if (confirm.trim() !== workspace.name) {
      const problem = "Type the workspace’s name exactly as it is written above.";
      return show(visit, { confirm }, new Map([["confirm", problem]]));
    }
    const isDone = await doneSoon(visit.perform(deleteWorkspace, { workspace: id }), log);
    return redirect("/dashboard/usage", isDone ? "workspace-deleted" : "workspace-being-deleted");
  });
}

async function* bytesOf(parts: AsyncIterable<{ readonly base64: string }>): AsyncGenerator<Buffer> {
  for await (const { base64 } of parts) if (base64 !== "") yield Buffer.from(base64, "base64");
}
