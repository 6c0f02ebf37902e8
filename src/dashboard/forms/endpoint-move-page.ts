import type { Endpoint } from "../../endpoints/endpoint.ts";
import { moveEndpoint } from "../../endpoints/move-endpoint.ts";
import { getViewableEndpoint } from "../../endpoints/endpoint-store.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { html, type Html } from "../../foundation/html.ts";
import { inNameOrder } from "../../foundation/name-order.ts";
import { labelWorkspaces } from "../../workspaces/label-workspaces.ts";
import { listViewableWorkspaces } from "../../workspaces/workspace-store.ts";
import type { Steps } from "../../database/steps.ts";
import { page, redirect } from "../answer.ts";
import { NO_PROBLEMS, type Option, type Problems, problemSummary, selectField } from "../kit/field.ts";
import { doneSoon } from "../kit/long-work.ts";
import { sentence } from "../kit/sentence.ts";
import type { DashboardParts } from "../parts.ts";
import type { Routes, Visit } from "../routes.ts";
import { endpointFrame, pathOf } from "./endpoint-frame.ts";

/** Moves a form into another workspace of the viewer. */
export function endpointMovePages(routes: Routes, parts: DashboardParts): void {
  routes.write("/endpoints/:id/move", async ({ viewer, params, form, perform }) => {
    const endpoint = await parts.db.read(() => getViewableEndpoint(viewer, params["id"] ?? ""));
    const to = form.get("to") ?? "";
    try {
      if (to === "") throw new FormsvcError("usage", "choose the workspace that it goes to");
      const isDone = await doneSoon(perform(moveEndpoint, { endpoint: endpoint.id, to }), parts.log);
      return redirect(pathOf(endpoint, ""), isDone ? "endpoint-moved" : "endpoint-being-moved");
    } catch (error) {
      if (!(error instanceof FormsvcError) || !REFUSALS.has(error.code)) throw error;
      const problems = new Map([["to", sentence(error.message)]]);
      const others = await parts.db.read(() => readOtherWorkspaces(viewer, endpoint));
      const content = html`${problemSummary(problems)}${moveCard(endpoint, others, problems, to)}`;
      return page(endpoint.name, endpointFrame(endpoint, "", content), 422);
    }
  });
}

/** The error codes that mean a mistake in the form. */
const REFUSALS: ReadonlySet<string> = new Set(["usage", "plan_limit"]);

/** The workspaces that a form could be moved to. */
export function* readOtherWorkspaces(viewer: Visit["viewer"], endpoint: Endpoint): Steps<Option[]> {
  const ids = (yield* listViewableWorkspaces(viewer, "endpoints:move")).map(({ id }) => id);
  const labels = yield* labelWorkspaces(ids);
  return ids
    .filter((id) => id !== endpoint.workspaceId)
    .map((id) => ({ value: id, label: labels.get(id) ?? id }))
    .toSorted((left, right) => inNameOrder(left.label, right.label));
}

/** Null if there is no other workspace. */
export function moveCard(
  endpoint: Endpoint,
  others: readonly Option[],
  problems: Problems = NO_PROBLEMS,
  chosen = "",
): Html | null {
  if (others.length === 0) return null;
  return html`<section class="part" aria-labelledby="move">
    <header>
      <h2 id="move">Move to another workspace</h2>
      <p>Whoever sees that workspace sees the form and its posts from then on.</p>
    </header>
    <form class="card stacked" method="post" action="${pathOf(endpoint, "/move")}">
      <p>
        Its keys, its address and its posts stay as they are. What was counted this month stays with the present workspace, and so
        does what the spam filter learned there.
      </p>
      ${selectField({ name: "to", label: "Workspace", value: chosen, problems }, [{ value: "", label: "Choose the workspace" }, ...others])}
      <p><button>Move the form</button></p>
    </form>
  </section>`;
}
