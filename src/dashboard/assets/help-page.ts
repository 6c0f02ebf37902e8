import { FormsvcError } from "../../foundation/errors.ts";
import { html } from "../../foundation/html.ts";
import { page } from "../answer.ts";
import { findHelp } from "./help.ts";
import type { DashboardParts } from "../parts.ts";
import type { Routes } from "../routes.ts";

/** `/dashboard/help/:name`: the documentation of this version. */
export function helpPages(routes: Routes, _parts: DashboardParts): void {
  routes.read("/help/:name", ({ params }) => {
    const found = findHelp(params["name"] ?? "");
    if (found === null) throw new FormsvcError("not_found", "there is no such page of the documentation");
    return page(
      found.title,
      html`<p class="crumbs"><a href="/dashboard/help/dashboard">← Help</a></p>
        <article class="card help">
          <h1>${found.title}</h1>
          ${found.content}
        </article>`,
    );
  });
}
