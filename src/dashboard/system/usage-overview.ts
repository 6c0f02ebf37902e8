import { html, type Html } from "../../foundation/html.ts";
import { inNameOrder } from "../../foundation/name-order.ts";
import { hasReached } from "../../workspaces/usage-mark.ts";
import type { Workspace } from "../../workspaces/workspace.ts";
import { emptyCard } from "../kit/empty-card.ts";
import {
  fits,
  type ListView,
  pageLinks,
  readListView,
  rowsOf,
  searchForm,
  sortHeading,
} from "../forms/list-view.ts";
import { grouped } from "../kit/numbers.ts";
import { planName } from "./plan-name.ts";
import { monthName } from "./usage-months.ts";
import { meter } from "./usage-view.ts";

const PATH = "/dashboard/usage";
const SORTS = ["share", "used", "plan", "name"] as const;
type Sort = (typeof SORTS)[number];

/** What a workspace has used of its plan in one month. */
export interface WorkspaceUse {
  readonly workspace: Workspace;
  /** Its name, made unique among workspaces with the same name. */
  readonly label: string;
  readonly used: number;
  /** Null means unlimited. Undefined means that the plan is not in the configuration, so the workspace accepts no posts. */
  readonly limit: number | null | undefined;
}

interface OverviewParts {
  readonly uses: readonly WorkspaceUse[];
  /** `YYYY-MM`. */
  readonly month: string;
  /** Oldest first. */
  readonly months: readonly string[];
  readonly query: URLSearchParams;
}

/** All workspaces that somebody sees, the fullest first. */
export function usageOverview({ uses, month, months, query }: OverviewParts): Html {
  const shown = readListView<Sort>(PATH, query, SORTS, { month });
  const found = uses
    .filter(({ label, workspace }) => fits(shown, label, workspace.plan))
    .toSorted(ORDERS[shown.sort]);
  const monthSelect = html`<select name="month" aria-label="Month">
    ${months.toReversed().map((each) => html`<option value="${each}" ${each === month && html` selected`}>${monthName(each)}</option>`)}
  </select>`;
  return html`<div class="head">
      <h1>Usage</h1>
      ${searchForm(shown, "Find a workspace", monthSelect)}
    </div>
    ${facts(uses, month)}
    ${found.length === 0 ? NOTHING : table(shown, rowsOf(shown, found))}
    ${pageLinks(shown, found.length)}`;
}

const NOTHING = emptyCard(
  "No workspace fits",
  "Neither its name nor its plan has these words.",
  html`<a class="button" href="${PATH}">Show all workspaces</a>`,
);

type Order = (left: WorkspaceUse, right: WorkspaceUse) => number;

const byName: Order = (left, right) => inNameOrder(left.label, right.label);
const byUsed: Order = (left, right) => right.used - left.used || byName(left, right);
const ORDERS: Readonly<Record<Sort, Order>> = {
  name: byName,
  used: byUsed,
  plan: (left, right) => left.workspace.plan.localeCompare(right.workspace.plan, "en") || byName(left, right),
  share: (left, right) => shareOf(right) - shareOf(left) || byUsed(left, right),
};

/** The used share of the limit; 1 means all of it. A workspace that can accept no posts comes first. */
function shareOf({ used, limit }: WorkspaceUse): number {
  if (limit === undefined) return Infinity;
  if (limit === null) return 0;
  return limit === 0 ? 1 : used / limit;
}

function facts(uses: readonly WorkspaceUse[], month: string): Html {
  const near = uses.filter(({ used, limit = null }) => hasReached(used, limit, 80));
  const full = near.filter(({ used, limit = null }) => hasReached(used, limit, 100)).length;
  const total = uses.reduce((sum, { used }) => sum + used, 0);
  const each: readonly [string, number][] = [
    [`Posts in ${monthName(month)}`, total],
    ["Workspaces", uses.length],
    ["Close to the limit", near.length - full],
    ["At the limit", full],
  ];
  return html`<dl class="overview">
    ${each.map(([name, count]) => html`<div><dt>${name}</dt><dd class="figure">${grouped(count)}</dd></div>`)}
  </dl>`;
}

function table(shown: ListView<Sort>, rows: readonly WorkspaceUse[]): Html {
  return html`<div class="card scroll folds" tabindex="0" role="region" aria-label="Workspaces">
    <table>
      <thead>
        <tr>
          ${sortHeading(shown, "name", { label: "Workspace", direction: "ascending" })}
          ${sortHeading(shown, "plan", { label: "Plan", direction: "ascending" })}
          ${sortHeading(shown, "used", { label: "Posts", direction: "descending", isRight: true })}
          ${sortHeading(shown, "share", { label: "Of the limit", direction: "descending" })}
        </tr>
      </thead>
      <tbody>
        ${rows.map((row) => rowView(row, shown.more["month"] ?? ""))}
      </tbody>
    </table>
  </div>`;
}

function rowView(use: WorkspaceUse, month: string): Html {
  const { workspace, label, used } = use;
  return html`<tr>
    <th scope="row">
      <a class="link" href="${PATH}?workspace=${workspace.id}&month=${month}"><bdi>${label}</bdi></a>
    </th>
    <td data-label="Plan">${planName(workspace.plan)}</td>
    <td class="right num" data-label="Posts">${grouped(used)}</td>
    <td class="full">${limitCell(use)}</td>
  </tr>`;
}

function limitCell({ used, limit }: WorkspaceUse): Html {
  if (limit === undefined)
    return html`<span class="pill high">Plan is not configured: no post is taken</span>`;
  if (limit === null) return html`<span class="muted">no limit</span>`;
  const said = hasReached(used, limit, 100)
    ? html` <span class="pill high">Reached: posts are held</span>`
    : hasReached(used, limit, 80)
      ? html` <span class="pill medium">Close to it</span>`
      : null;
  return html`<span class="num">of ${grouped(limit)}</span>${said}${meter(used, limit)}`;
}
