import { nextMonthStart, monthOf } from "../foundation/clock.ts";
import { html, type Html } from "../foundation/html.ts";
import { isId } from "../foundation/id.ts";
import type { Endpoint } from "../endpoints/endpoint.ts";
import { listViewableEndpoints } from "../endpoints/endpoint-store.ts";
import { countSubmissions, lastSubmissionAt } from "../submissions/count-submissions.ts";
import type { Workspace } from "../workspaces/workspace.ts";
import { listViewableWorkspaces } from "../workspaces/workspace-store.ts";
import { page } from "./answer.ts";
import { emptyCard } from "./empty-card.ts";
import { grouped } from "./numbers.ts";
import type { DashboardParts } from "./parts.ts";
import type { Routes } from "./routes.ts";
import { time } from "./time.ts";

/** Endpoints on one page. */
const PAGE_SIZE = 50;
/** Posts of a month that are counted for one row; more are told as "more than". */
const MOST_COUNTED = 20_000;

interface Row {
  readonly endpoint: Endpoint;
  readonly thisMonth: number;
  readonly lastAt: number | null;
}

/** `/dashboard/endpoints`: every form that the viewer may see. */
export function endpointListPages(routes: Routes, { db, clock }: DashboardParts): void {
  routes.read("/endpoints", async ({ viewer, query }) => {
    const given = query.get("after") ?? "";
    const after = isId("ep", given) ? given : null;
    const found = await db.read(() => listViewableEndpoints(viewer, { after, limit: PAGE_SIZE + 1 }));
    const workspaces = await db.read(() => listViewableWorkspaces(viewer));
    const now = clock.now();
    const rows: Row[] = [];
    for (const endpoint of found.slice(0, PAGE_SIZE)) {
      const lastAt = await db.read(() => lastSubmissionAt(endpoint.id));
      rows.push({ endpoint, lastAt, thisMonth: await countThisMonth(endpoint.id, now) });
    }
    const next = found.length > PAGE_SIZE ? (rows.at(-1)?.endpoint.id ?? null) : null;
    return page("Endpoints", view({ rows, workspaces, next, isFirst: after === null }));
  });

  function countThisMonth(endpointId: string, now: number): Promise<number> {
    const since = Date.parse(`${monthOf(now)}-01T00:00:00Z`);
    return countSubmissions(db, { endpointId, since, until: nextMonthStart(now) }, MOST_COUNTED);
  }
}

interface ListParts {
  readonly rows: readonly Row[];
  readonly workspaces: readonly Workspace[];
  /** The endpoint that the next page begins after; null if this is the last. */
  readonly next: string | null;
  readonly isFirst: boolean;
}

function view({ rows, workspaces, next, isFirst }: ListParts): Html {
  return html`<div class="head">
      <h1>Endpoints</h1>
      <div class="actions"><a class="button primary" href="/dashboard/endpoints/new">New endpoint</a></div>
    </div>
    ${rows.length === 0 ? EMPTY : table(rows, new Map(workspaces.map((each) => [each.id, each])))}
    ${
      (next !== null || !isFirst) &&
      html`<nav class="pages" aria-label="Pages">
        ${isFirst ? html`<span></span>` : html`<a href="/dashboard/endpoints">First page</a>`}
        ${next !== null && html`<a href="/dashboard/endpoints?after=${next}">Next page</a>`}
      </nav>`
    }`;
}

const EMPTY = emptyCard(
  "There is no endpoint yet",
  "An endpoint takes the posts of one form. Make one, paste its form into your website, and what people send arrives in the inbox.",
  html`<a class="button primary" href="/dashboard/endpoints/new">Make the first endpoint</a>`,
);

function table(rows: readonly Row[], workspaces: ReadonlyMap<string, Workspace>): Html {
  const hasSeveral = workspaces.size > 1;
  return html`<div class="card scroll folds" tabindex="0" role="region" aria-label="Endpoints">
    <table>
      <thead>
        <tr>
          <th scope="col">Name</th>
          ${hasSeveral && html`<th scope="col">Workspace</th>`}
          <th scope="col">State</th>
          <th scope="col" class="right">Posts this month</th>
          <th scope="col" class="right">Last post</th>
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          ({ endpoint: { id, name, state, workspaceId }, thisMonth, lastAt }) =>
            html`<tr>
              <th scope="row"><a class="link" href="/dashboard/endpoints/${id}"><bdi>${name}</bdi></a></th>
              ${hasSeveral && html`<td data-label="Workspace"><bdi>${workspaces.get(workspaceId)?.name}</bdi></td>`}
              <td>${stateLabel(state)}</td>
              <td class="right num" data-label="Posts this month">${countLabel(thisMonth)}</td>
              <td class="right" data-label="Last post">${lastAt === null ? html`<span class="muted">none yet</span>` : time(lastAt)}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

export function stateLabel(state: Endpoint["state"]): Html {
  return state === "active"
    ? html`<span class="pill done">Open</span>`
    : html`<span class="pill medium">Paused</span>`;
}

function countLabel(count: number): string {
  return count > MOST_COUNTED ? `more than ${grouped(MOST_COUNTED)}` : grouped(count);
}
