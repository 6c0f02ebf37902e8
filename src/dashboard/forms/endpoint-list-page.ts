import { readSlice } from "../../database/slices.ts";
import type { Endpoint } from "../../endpoints/endpoint.ts";
import { findEndpoint } from "../../endpoints/endpoint-store.ts";
import { listEndpointsInWorkspaces, type EndpointInWorkspace } from "../../endpoints/viewable-endpoints.ts";
import { monthOf, nextMonthStart } from "../../foundation/clock.ts";
import { html, type Html } from "../../foundation/html.ts";
import { countSubmissions, lastSubmissionAt } from "../../submissions/find/count-submissions.ts";
import { findSight, mayAnywhere, type Sight } from "../../workspaces/standing.ts";
import { page } from "../answer.ts";
import { emptyCard } from "../kit/empty-card.ts";
import { hasSeveralWorkspaces } from "./form-name.ts";
import {
  fits,
  type ListView,
  pageLinks,
  readListView,
  rowsOf,
  searchForm,
  sortHeading,
} from "./list-view.ts";
import { grouped } from "../kit/numbers.ts";
import type { DashboardParts } from "../parts.ts";
import type { Routes } from "../routes.ts";
import { time } from "../kit/time.ts";

const PATH = "/dashboard/endpoints";
/** The largest number of forms that are searched and sorted, because an operator may see any number of them. */
const MAX_LISTED = 2000;
/** The largest number of a month's posts that are counted for one row. A larger number is shown as "more than". */
const MOST_COUNTED = 20_000;
/** The number of forms whose last post is looked up in one slice; each takes some 10 µs. */
const SLICE = 50;
/** The largest number of forms for which the list has no search. */
const FEW = 8;

const SORTS = ["name", "last", "newest"] as const;
type Sort = (typeof SORTS)[number];

interface Row {
  readonly form: EndpointInWorkspace;
  readonly state: Endpoint["state"];
  readonly thisMonth: number;
  readonly lastAt: number | null;
  /** Whether the viewer may change the form. If not, the row leads to its submissions. */
  readonly mayChange: boolean;
}

/** `/dashboard/endpoints`: every form that the viewer may see. */
export function endpointListPages(routes: Routes, { db, clock }: DashboardParts): void {
  routes.read("/endpoints", async ({ viewer, query }) => {
    const shown = readListView<Sort>(PATH, query, SORTS);
    const all = await db.read(() => listEndpointsInWorkspaces(viewer, MAX_LISTED + 1));
    const listed = all.slice(0, MAX_LISTED);
    const found = await inOrder(
      shown.sort,
      listed.filter(({ name, workspaceName }) => fits(shown, name, workspaceName)),
    );
    const now = clock.now();
    const { mayMake, sight } = await db.read(function* () {
      return {
        sight: yield* findSight(viewer, "endpoints:write"),
        mayMake: yield* mayAnywhere(viewer, "endpoints:create"),
      };
    });
    const rows: Row[] = [];
    for (const form of rowsOf(shown, found)) {
      const [endpoint, lastAt] = await db.read(function* () {
        return [yield* findEndpoint(form.id), yield* lastSubmissionAt(form.id)] as const;
      });
      const state = endpoint?.state;
      if (state !== undefined)
        rows.push({
          form,
          state,
          lastAt,
          thisMonth: await countThisMonth(form.id, now),
          mayChange: isWithin(sight, form),
        });
    }
    return page("Forms", view({ shown, rows, all, matching: found.length, mayMake }));
  });

  async function inOrder(
    sort: Sort,
    forms: readonly EndpointInWorkspace[],
  ): Promise<readonly EndpointInWorkspace[]> {
    if (sort === "newest") return forms.toSorted((left, right) => (left.id < right.id ? 1 : -1));
    if (sort === "name") return forms;
    const last = new Map<string, number>();
    for (let from = 0; from < forms.length; from += SLICE) {
      const slice = forms.slice(from, from + SLICE);
      await readSlice(db, function* () {
        for (const { id } of slice) last.set(id, (yield* lastSubmissionAt(id)) ?? 0);
      });
    }
    return forms.toSorted((left, right) => (last.get(right.id) ?? 0) - (last.get(left.id) ?? 0));
  }

  function countThisMonth(endpointId: string, now: number): Promise<number> {
    const since = Date.parse(`${monthOf(now)}-01T00:00:00Z`);
    return countSubmissions(db, { endpointId, since, until: nextMonthStart(now) }, MOST_COUNTED);
  }
}

interface ListParts {
  readonly shown: ListView<Sort>;
  readonly rows: readonly Row[];
  /** Every form that the viewer may see; the list has one more than {@link MAX_LISTED} if there are more. */
  readonly all: readonly EndpointInWorkspace[];
  /** The number of forms that match the search. */
  readonly matching: number;
  /** Whether the viewer may make forms. */
  readonly mayMake: boolean;
}

/** Whether a sight includes an endpoint; null includes every endpoint. */
function isWithin(sight: Sight | null, { id, workspaceId }: EndpointInWorkspace): boolean {
  return sight === null || sight.whole.includes(workspaceId) || sight.endpoints.includes(id);
}

function view(parts: ListParts): Html {
  const { shown, rows, all, matching, mayMake } = parts;
  const add = html`<a class="button primary" href="${PATH}/new">New form</a>`;
  return html`<div class="head">
      <h1>Forms</h1>
      ${(all.length > FEW || shown.q !== "") && searchForm(shown, "Find a form or workspace")}
      ${mayMake && html`<div class="actions">${add}</div>`}
    </div>
    ${all.length === 0 ? (mayMake ? EMPTY : NONE_SEEN) : rows.length === 0 ? nothingFound() : table(parts)}
    ${pageLinks(shown, matching)}
    ${all.length > MAX_LISTED && html`<p class="muted">The first ${grouped(MAX_LISTED)} forms are listed and searched here; <code>formsvc endpoint list</code> on the server lists all.</p>`}`;
}

const EMPTY = emptyCard(
  "There is no form yet",
  "Make one, paste it into your website or give it a page of its own, and what people send arrives in the inbox.",
  html`<a class="button primary" href="/dashboard/endpoints/new">Make the first form</a>`,
);

/** The empty list for viewers who may not make forms. */
const NONE_SEEN = emptyCard(
  "You see no form",
  "Whoever owns the workspace decides which forms you see.",
  html`<a class="button" href="/dashboard">To the inbox</a>`,
);

function nothingFound(): Html {
  return emptyCard(
    "No form fits",
    "Neither the name of a form nor that of its workspace has these words.",
    html`<a class="button" href="${PATH}">Show all forms</a>`,
  );
}

function table({ shown, rows, all }: ListParts): Html {
  const hasSeveral = hasSeveralWorkspaces(all);
  return html`<div class="card scroll folds" tabindex="0" role="region" aria-label="Forms">
    <table>
      <thead>
        <tr>
          ${sortHeading(shown, "name", { label: hasSeveral ? "Name, by workspace" : "Name", direction: "ascending" })}
          ${hasSeveral && html`<th scope="col">Workspace</th>`}
          <th scope="col">State</th>
          <th scope="col" class="right">Posts this month</th>
          ${sortHeading(shown, "last", { label: "Last post", direction: "descending", isRight: true })}
        </tr>
      </thead>
      <tbody>
        ${rows.map((row) => rowView(row, hasSeveral))}
      </tbody>
    </table>
  </div>`;
}

function rowView({ form, state, thisMonth, lastAt, mayChange }: Row, hasSeveral: boolean): Html {
  const path = mayChange ? `${PATH}/${form.id}` : `/dashboard?endpoint=${form.id}`;
  return html`<tr>
    <th scope="row"><a class="link" href="${path}"><bdi>${form.name}</bdi></a></th>
    ${hasSeveral && html`<td data-label="Workspace"><bdi>${form.workspaceName}</bdi></td>`}
    <td>${stateLabel(state)}</td>
    <td class="right num" data-label="Posts this month">${countLabel(thisMonth)}</td>
    <td class="right" data-label="Last post">${lastAt === null ? html`<span class="muted">none yet</span>` : time(lastAt)}</td>
  </tr>`;
}

export function stateLabel(state: Endpoint["state"]): Html {
  return state === "active"
    ? html`<span class="pill done">Open</span>`
    : html`<span class="pill medium">Paused</span>`;
}

function countLabel(count: number): string {
  return count > MOST_COUNTED ? `more than ${grouped(MOST_COUNTED)}` : grouped(count);
}
