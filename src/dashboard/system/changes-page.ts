import { type Doer, listChanges, type RecordedChange } from "../../audit/audit-store.ts";
import { html, type Html } from "../../foundation/html.ts";
import { page } from "../answer.ts";
import { CHANGE_WORDS } from "./change-words.ts";
import { listCard } from "../kit/list-card.ts";
import type { DashboardParts } from "../parts.ts";
import type { Routes } from "../routes.ts";
import { operatorRoutes, systemHead } from "./system-page.ts";
import { time } from "../kit/time.ts";

const PATH = "/dashboard/system/changes";
const PAGE_SIZE = 50;

/** `/dashboard/system/changes`: who changed what, the newest first. */
export function changesPages(routes: Routes, { db }: DashboardParts): void {
  operatorRoutes(routes).read("/system/changes", async ({ query }) => {
    const before = /^\d{1,15}$/.test(query.get("before") ?? "") ? Number(query.get("before")) : null;
    const found = await db.read(() => listChanges(PAGE_SIZE + 1, before));
    const shown = found.slice(0, PAGE_SIZE);
    return page("Changes", changesView(shown, found.length > PAGE_SIZE ? (shown.at(-1)?.id ?? null) : null));
  });
}

function changesView(changes: readonly RecordedChange[], next: number | null): Html {
  if (changes.length === 0)
    return html`${systemHead(PATH)}<section class="card"><p class="empty">Nothing was changed yet.</p></section>`;
  return html`${systemHead(PATH)}
    ${listCard({
      label: "Changes",
      columns: ["When", "Who", "What", "To what"],
      rows: changes.map(changeRow),
      next: next === null ? null : `${PATH}?before=${next}`,
    })}`;
}

function changeRow({ at, actor, action, subject, detail }: RecordedChange): Html {
  // If there are an id and a name, people know the name.
  const [main, more] = detail === null ? [subject, null] : [detail, subject];
  return html`<tr>
    <td>${time(at)}</td>
    <td>${doerView(actor)}</td>
    <td>${CHANGE_WORDS[action] ?? action}</td>
    <td class="full"><bdi>${main}</bdi>${more !== null && html`<small class="mono"><bdi>${more}</bdi></small>`}</td>
  </tr>`;
}

function doerView(actor: Doer): Html {
  if (actor === null) return html`<span class="muted">command line</span>`;
  if (actor === "visitor")
    return html`<span class="muted" title="somebody who followed the link of an e-mail">visitor</span>`;
  if ("terminalUser" in actor)
    return html`<span class="muted">command line</span><small><bdi>${actor.terminalUser}</bdi></small>`;
  if (!("tokenId" in actor)) return html`<bdi>${actor.email}</bdi>`;
  return html`<bdi>${actor.account?.email ?? "a workspace’s token"}</bdi><small>token <bdi>${actor.tokenName}</bdi></small>`;
}
