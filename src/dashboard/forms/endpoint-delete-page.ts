import { deleteEndpoint } from "../../endpoints/delete-endpoint.ts";
import type { Endpoint } from "../../endpoints/endpoint.ts";
import { getViewableEndpoint } from "../../endpoints/endpoint-store.ts";
import { html, type Html } from "../../foundation/html.ts";
import { page, redirect } from "../answer.ts";
import { endpointFrame, pathOf } from "./endpoint-frame.ts";
import { type Problems, problemSummary, textField } from "../kit/field.ts";
import { doneSoon } from "../kit/long-work.ts";
import type { DashboardParts } from "../parts.ts";
import type { Routes } from "../routes.ts";

/** Deletes an endpoint for good after its name was typed. */
export function endpointDeletePages(routes: Routes, parts: DashboardParts): void {
  routes.write("/endpoints/:id/delete", async ({ viewer, params, form, perform }) => {
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
      (await doneSoon(perform(deleteEndpoint, { endpoint: id }), parts.log))
        ? "endpoint-deleted"
        : "endpoint-being-deleted",
    );
  });
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
