import { html, type Html } from "../../foundation/html.ts";
import type { Plans } from "../../workspaces/workspace.ts";
import { grouped } from "../kit/numbers.ts";
import { planName } from "./plan-name.ts";

/** What each plan allows, and how the person who runs the server can raise it. */
export function limitsCard(plans: Plans): Html {
  return html`<section class="card">
    <header><h2>Limits of the plans</h2></header>
    <dl class="facts">
      ${Object.entries(plans).map(
        ([name, { monthlySubmissions, endpoints }]) =>
          html`<div>
            <dt>${planName(name)}</dt>
            <dd>${shown(monthlySubmissions)} submissions a month, ${shown(endpoints)} forms</dd>
          </div>`,
      )}
    </dl>
    <p class="body">
      These limits are yours to lift: give a workspace another plan under
      <a href="/dashboard/system/workspaces">Workspaces</a>, or change <code>plans</code> in the configuration, in which
      <code>null</code> is unlimited, and restart the server. With a mail server, owners and operators get an e-mail when 80 % of a
      month are used, when all of it is, and when the first post is held for it.
    </p>
  </section>`;
}

function shown(limit: number | null): string {
  return limit === null ? "unlimited" : grouped(limit);
}
