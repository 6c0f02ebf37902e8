import { setTimeout as sleep } from "node:timers/promises";
import { removeEndpoint } from "../endpoints/administer-endpoints.ts";
import type { Endpoint } from "../endpoints/endpoint.ts";
import { getViewableEndpoint } from "../endpoints/endpoint-store.ts";
import { maintenanceFailed } from "../foundation/events.ts";
import { html, type Html } from "../foundation/html.ts";
import { page, redirect } from "./answer.ts";
import { endpointFrame, pathOf } from "./endpoint-frame.ts";
import { type Problems, problemSummary, textField } from "./field.ts";
import { applied, type DashboardParts } from "./parts.ts";
import type { Routes } from "./routes.ts";

/** Time between two transactions, in which posts are stored. */
const PAUSE_MS = 2;
/** A deletion that takes longer goes on after the page was answered. */
const LONGEST_WAIT_MS = 10_000;

/** Deletes an endpoint for good, when its name was typed. */
export function endpointDeletePages(routes: Routes, parts: DashboardParts): void {
  routes.write("/endpoints/:id/delete", async ({ viewer, params, form, now }) => {
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
      (await removal({ id, actor: viewer, now })) ? "endpoint-deleted" : "endpoint-being-deleted",
    );
  });

  /** Returns whether it is done already. */
  async function removal(asked: Parameters<typeof removeEndpoint>[1]): Promise<boolean> {
    const { db, endpointContents, log } = parts;
    const work = applied(parts, () => removeEndpoint(db, asked, endpointContents, () => sleep(PAUSE_MS)));
    const waiting = new AbortController();
    const late = sleep(LONGEST_WAIT_MS, false, { signal: waiting.signal }).catch(() => false);
    const done = work.then(() => true);
    done.catch((error: unknown) => maintenanceFailed(log, error));
    try {
      return await Promise.race([done, late]);
    } finally {
      waiting.abort();
    }
  }
}

export function deletionCard(endpoint: Endpoint, problems: Problems, typed = ""): Html {
  const hint = html`Type <b dir="auto">${endpoint.name}</b> to confirm.`;
  return html`<section class="card" aria-labelledby="delete">
    <header><h2 id="delete">Delete this form</h2></header>
    <form class="stacked" method="post" action="${pathOf(endpoint, "/delete")}">
      <p>
        Its keys stop working at once, and all that was sent to it is deleted for good. What was counted towards the month stays counted.
      </p>
      ${textField({ name: "confirm", label: "Name of the form", value: typed, hint, problems, autocomplete: "off" })}
      <p><button class="danger">Delete the form and its posts</button></p>
    </form>
  </section>`;
}
