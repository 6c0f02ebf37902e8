import { setTimeout as sleep } from "node:timers/promises";
import { deleteEndpoint } from "../../endpoints/delete-endpoint.ts";
import type { Endpoint } from "../../endpoints/endpoint.ts";
import { getViewableEndpoint } from "../../endpoints/endpoint-store.ts";
import { maintenanceFailed } from "../../foundation/events.ts";
import { html, type Html } from "../../foundation/html.ts";
import { page, redirect } from "../answer.ts";
import { endpointFrame, pathOf } from "./endpoint-frame.ts";
import { type Problems, problemSummary, textField } from "../kit/field.ts";
import type { DashboardParts } from "../parts.ts";
import type { Routes, Visit } from "../routes.ts";

/** A deletion that takes longer goes on after the page was answered. */
const LONGEST_WAIT_MS = 10_000;

/** Deletes an endpoint for good, when its name was typed. */
export function endpointDeletePages(routes: Routes, parts: DashboardParts): void {
  routes.write("/endpoints/:id/delete", async (visit) => {
    const { viewer, params, form } = visit;
    const endpoint = await parts.db.read(() => getViewableEndpoint(viewer, params["id"] ?? ""));
    const { id, name } = endpoint;
    const typed = form.get("confirm") ?? "";
    if (typed.trim() !== name) {
      const problems = new Map([["confirm", "Type the form’s name exactly as it is written above."]]);
      const content = html`${problemSummary(problems)}${deletionCard(endpoint, problems, typed)}`;
      return page(name, endpointFrame(endpoint, "", content), 422);
    }
    return redirect(
      "/dashboard/endpoints",
      (await removal(visit, id)) ? "endpoint-deleted" : "endpoint-being-deleted",
    );
  });

  /** Returns whether it is done already. */
  async function removal({ perform }: Visit, id: string): Promise<boolean> {
    const work = perform(deleteEndpoint, { endpoint: id });
    const waiting = new AbortController();
    const late = sleep(LONGEST_WAIT_MS, false, { signal: waiting.signal }).catch(() => false);
    const done = work.then(() => true);
    done.catch((error: unknown) => maintenanceFailed(parts.log, error));
    try {
      return await Promise.race([done, late]);
    } finally {
      waiting.abort();
    }
  }
}

export function deletionCard(endpoint: Endpoint, problems: Problems, typed = ""): Html {
  const hint = html`Type <b dir="auto">${endpoint.name}</b> to confirm.`;
  return html`<section class="part" aria-labelledby="delete">
    <header>
      <h2 id="delete" class="danger">Delete this form</h2>
      <p>There is no way back. Download its posts first if you need them.</p>
    </header>
    <form class="card stacked" method="post" action="${pathOf(endpoint, "/delete")}">
      <p>
        Its keys stop working at once, and all that was sent to it is deleted for good. What was counted towards the month stays counted.
      </p>
      ${textField({ name: "confirm", label: "Name of the form", value: typed, hint, problems, autocomplete: "off" })}
      <p><button class="danger">Delete the form and its posts</button></p>
    </form>
  </section>`;
}
