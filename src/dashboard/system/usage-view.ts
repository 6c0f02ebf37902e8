import type { Endpoint } from "../../endpoints/endpoint.ts";
import { countOf } from "../../foundation/count-of.ts";
import { monthOf } from "../../foundation/clock.ts";
import { sizeText } from "../../foundation/file-list.ts";
import { html, type Html } from "../../foundation/html.ts";
import { hasReached } from "../../workspaces/usage-mark.ts";
import type { PlanLimits, Workspace } from "../../workspaces/workspace.ts";
import type { MonthUse } from "../../workspaces/usage-store.ts";
import { grouped } from "../kit/numbers.ts";
import { planName } from "./plan-name.ts";
import { dayName } from "../kit/time.ts";
import { monthName, reachedAt } from "./usage-months.ts";

/** The number of stored posts of one endpoint in a month. */
export interface StoredPosts {
  readonly endpoint: Endpoint;
  readonly posts: number;
  /** Whether there are further posts that were not counted. */
  readonly hasMore: boolean;
}

interface UsageParts {
  readonly workspace: Workspace;
  readonly isOneOfSeveral: boolean;
  /** Null if the plan is not in the configuration. */
  readonly limits: PlanLimits | null;
  /** Oldest first; the last one is the present month. */
  readonly months: readonly MonthUse[];
  /** The month whose endpoints are shown. */
  readonly month: string;
  readonly endpoints: readonly StoredPosts[];
  /** Bytes of the files that each endpoint has now, by its id. An endpoint without files is missing. */
  readonly formBytes: ReadonlyMap<string, number>;
  /** The number of endpoints that are not shown. */
  readonly uncounted: number;
  /** The number of days that posts are held; null means until they are dropped. */
  readonly heldDays: number | null;
  readonly now: number;
}

export function usageView(parts: UsageParts): Html {
  const { workspace, isOneOfSeveral } = parts;
  return html`${isOneOfSeveral && html`<p class="crumbs"><a href="/dashboard/usage">← All workspaces</a></p>`}
    <div class="head">
      <h1>Usage${isOneOfSeveral && html` of <bdi>${workspace.name}</bdi>`}</h1>
      <a class="button" href="/dashboard/workspaces/${workspace.id}">Settings of the workspace</a>
    </div>
    ${thisMonth(parts)}${filesCard(parts)}${endpointTable(parts)}`;
}

export function noWorkspaceView(): Html {
  return html`<div class="head"><h1>Usage</h1></div>
    <p class="card empty">There is no workspace yet; the first form makes one.</p>`;
}

function thisMonth({ workspace, limits, months, heldDays, now }: UsageParts): Html {
  const used = months.at(-1)?.used ?? 0;
  const limit = limits?.monthlySubmissions ?? null;
  return html`<section class="card" aria-labelledby="this-month">
    <header>
      <h2 id="this-month">${monthName(monthOf(now))}</h2>
      <span class="muted">Plan ${planName(workspace.plan)}</span>
    </header>
    <div class="body">
      <p class="figure">${grouped(used)}<span class="of">${limit === null ? " posts" : ` of ${grouped(limit)} posts`}</span></p>
      ${limit !== null && meter(used, limit)}
      <p>${sentence(used, limit, now)}</p>
      ${limits === null && html`<p>The plan is not in the server’s configuration, so no post is taken. Tell the operator.</p>`}
      <p class="muted">${limit === null ? NO_LIMIT : rules(limit, heldDays)}</p>
      ${chart(months, limit)}
    </div>
  </section>`;
}

const NO_LIMIT = "Posts count when they are taken. Your plan has no monthly limit.";

function sentence(used: number, limit: number | null, now: number): string {
  if (limit === null) return `${grouped(used)} posts were taken this month.`;
  if (hasReached(used, limit, 100))
    return "The limit is reached: new posts are held until next month, or until the plan is larger.";
  const left = `${grouped(limit - used)} posts remain until the end of the month.`;
  const at = reachedAt(used, limit, now);
  return at === null
    ? left
    : `${left} If the month goes on like this, the limit is reached on ${dayName(at)}.`;
}

function rules(limit: number, heldDays: number | null): string {
  const kept =
    heldDays === null
      ? "held until you release or drop it"
      : `held for ${countOf(heldDays, "day")}, while there is room`;
  return (
    `From 80 % (${grouped(Math.ceil(limit * 0.8))}) on a line above the inbox tells you. At 100 % a further post is answered ` +
    `with an error and ${kept}. Release it next month, or at once on a larger plan. Deleting a post does not lower the count; ` +
    "the count begins anew on the first day of each month, UTC."
  );
}

export function meter(used: number, limit: number): Html {
  const share = limit === 0 ? 100 : Math.min(100, (used / limit) * 100);
  return html`<p class="meter wide ${meterTone(used, limit)}">
    <svg viewBox="0 0 100 6" preserveAspectRatio="none" role="img" aria-label="${Math.floor(share)} % of the limit">
      <rect width="${share.toFixed(2)}" height="6" />
    </svg>
  </p>`;
}

/** The colour of a meter: yellow if it is time to act, red if posts are held. */
export function meterTone(used: number, limit: number | null): string {
  if (hasReached(used, limit, 100)) return "full";
  return hasReached(used, limit, 80) ? "high" : "";
}

/** The bytes of files, if there are any. */
function filesCard({ formBytes, limits }: UsageParts): Html | null {
  if (formBytes.size === 0) return null;
  const used = [...formBytes.values()].reduce((sum, bytes) => sum + bytes, 0);
  const limit = limits?.fileBytes ?? null;
  const rules =
    limit === null
      ? "Your plan has no limit for files."
      : "From 80 % on the owner gets an e-mail, if this server sends any. A post whose files do not fit is refused, and its visitor is told to leave files out. Deleting files makes room at once.";
  return html`<section class="card" aria-labelledby="files">
    <header><h2 id="files">Files</h2></header>
    <div class="body">
      <p class="figure">${sizeText(used)}<span class="of">${limit === null ? " in files" : ` of ${sizeText(limit)}`}</span></p>
      ${limit !== null && meter(used, limit)}
      <p class="muted">Files of submissions and held posts are counted, as they are now. ${rules}</p>
    </div>
  </section>`;
}

/** The number of months with posts from which bars say more than the sentence and the table. */
const MIN_BARS = 2;
const BAR_WIDTH = 20;
const CHART_HEIGHT = 56;

function chart(months: readonly MonthUse[], limit: number | null): Html {
  const most = Math.max(1, ...months.map(({ used }) => used));
  const width = months.length * BAR_WIDTH;
  const bars = months.map(({ used }, index) => {
    const height = used === 0 ? 0 : Math.max(1, (used / most) * (CHART_HEIGHT - 1));
    const kind = hasReached(used, limit, 100) ? "held" : "ok";
    return html`<rect
      class="${kind}"
      x="${index * BAR_WIDTH + 2}"
      y="${(CHART_HEIGHT - 1 - height).toFixed(2)}"
      width="${BAR_WIDTH - 4}"
      height="${height.toFixed(2)}"
    />`;
  });
  const busiest = months.reduce((one, other) => (other.used > one.used ? other : one), {
    month: "",
    used: 0,
  });
  if (busiest.used === 0) return html`<p class="muted">No posts were taken in the last twelve months.</p>`;
  const said = `The last twelve months: most posts came in ${monthName(busiest.month)}, ${grouped(busiest.used)} of them.`;
  const isDrawn = months.filter(({ used }) => used > 0).length >= MIN_BARS;
  return html`<figure class="months">
    ${
      isDrawn &&
      html`<svg class="chart" viewBox="0 0 ${width} ${CHART_HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${said}">
      ${bars}
      <line class="axis" x1="0" x2="${width}" y1="${CHART_HEIGHT - 0.5}" y2="${CHART_HEIGHT - 0.5}" />
    </svg>`
    }
    <figcaption class="muted">${said}</figcaption>
    <div class="scroll fits" tabindex="0" role="region" aria-label="Posts by month">
      <table>
        <thead><tr><th scope="col">Month</th><th scope="col" class="right">Posts</th>${limit !== null && html`<th scope="col" class="right">Of today’s limit</th>`}</tr></thead>
        <tbody>
          ${months
            .slice(months.findIndex(({ used }) => used > 0))
            .toReversed()
            .map(
              ({ month, used }) =>
                html`<tr>
                <th scope="row">${monthName(month)}</th>
                <td class="right num">${grouped(used)}</td>
                ${limit !== null && html`<td class="right num">${limit === 0 ? "" : `${Math.floor((used / limit) * 100)} %`}</td>`}
              </tr>`,
            )}
        </tbody>
      </table>
    </div>
  </figure>`;
}

function endpointTable(parts: UsageParts): Html {
  const { endpoints, month, uncounted, workspace, months } = parts;
  return html`<section class="card" aria-labelledby="by-endpoint">
    <header>
      <h2 id="by-endpoint">By form: ${monthName(month)}</h2>
      <form method="get" action="/dashboard/usage" class="row">
        <input type="hidden" name="workspace" value="${workspace.id}" />
        <label for="f-month" class="hidden-text">Month</label>
        <select id="f-month" name="month">
          ${months.toReversed().map((each) => html`<option value="${each.month}" ${each.month === month && html` selected`}>${monthName(each.month)}</option>`)}
        </select>
        <button>Show</button>
      </form>
    </header>
    ${endpoints.length === 0 ? html`<p class="muted">This workspace has no forms.</p>` : rows(parts)}
    ${uncounted > 0 && html`<p class="muted">${grouped(uncounted)} more forms are not shown.</p>`}
    <p class="muted">Stored posts are counted here. Posts that were deleted since then count towards the month and not here.</p>
  </section>`;
}

function rows({ endpoints, formBytes }: UsageParts): Html {
  const hasFiles = formBytes.size > 0;
  return html`<div class="scroll fits" tabindex="0" role="region" aria-label="Posts by form">
    <table>
      <thead><tr><th scope="col">Form</th><th scope="col" class="right">Stored posts</th>${hasFiles && html`<th scope="col" class="right">Files now</th>`}</tr></thead>
      <tbody>
        ${endpoints.map(
          ({ endpoint: { id, name }, posts, hasMore }) =>
            html`<tr>
              <th scope="row"><a class="link" href="/dashboard/endpoints/${id}"><bdi>${name}</bdi></a></th>
              <td class="right num">${hasMore && "more than "}${grouped(posts)}</td>
              ${hasFiles && html`<td class="right num">${sizeText(formBytes.get(id) ?? 0)}</td>`}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}
