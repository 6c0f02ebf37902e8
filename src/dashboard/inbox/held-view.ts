import type { EndpointInWorkspace } from "../../endpoints/viewable-endpoints.ts";
import { countOf } from "../../foundation/count-of.ts";
import { html, type Html } from "../../foundation/html.ts";
import { plainText } from "../../foundation/plain-text.ts";
import type { HeldPost } from "../../submissions/held/held-post.ts";
import { emptyCard } from "../kit/empty-card.ts";
import { formOptions } from "../forms/form-choice.ts";
import { formName } from "../forms/form-name.ts";
import { postTable } from "./post-table.ts";
import { contentOf, previewOf, titleOf } from "./preview.ts";
import { scorePill } from "./score-view.ts";
import { setAsideCard } from "./set-aside-view.ts";
import { factsCard, reasonList, senderCard } from "./submission-cards.ts";
import { time } from "../kit/time.ts";

export interface HeldParts {
  readonly posts: readonly HeldPost[];
  readonly endpoints: ReadonlyMap<string, EndpointInWorkspace>;
  /** The endpoints that the viewer may see. */
  readonly choices: readonly EndpointInWorkspace[];
  /** Whether the rows belong to several workspaces. */
  readonly showsWorkspace: boolean;
  /** Whether the viewer may release or drop posts of some of these endpoints. If not, the buttons for that are left out. */
  readonly mayChange: boolean;
  /** The id of the endpoint that is shown; empty means all. */
  readonly endpointId: string;
  /** The cursor of this page; null on the first page. */
  readonly before: string | null;
  readonly nextCursor: string | null;
  /** The number of days that posts are held; null means for ever. */
  readonly days: number | null;
}

/** The address of the list, or of a path below it. */
export function addressOfHeld(endpointId: string, path = "", before = ""): string {
  const members = Object.entries({ endpoint: endpointId, before }).filter(([, value]) => value !== "");
  const query = new URLSearchParams(members).toString();
  return `/dashboard/held${path}${query === "" ? "" : `?${query}`}`;
}

export function heldView(parts: HeldParts): Html {
  const { posts, days } = parts;
  const until = days === null ? "" : ` After ${countOf(days, "day")} they go by themselves.`;
  const explanation = html`<p class="muted">
    These posts were refused, and whoever sent them was told so. If one is genuine, release it: it then arrives in the
    inbox and is sent on.${until}
  </p>`;
  return html`<div class="head">
      <h1>Held</h1>
      ${formSelect(parts)}
    </div>
    ${posts.length === 0 ? emptyView(parts) : html`${explanation} ${tableView(parts)}`}`;
}

function formSelect({ choices, endpointId }: HeldParts): Html | null {
  if (choices.length < 2) return null;
  return html`<form class="search" action="/dashboard/held">
    <label class="hidden-text" for="f-endpoint">Form</label>
    <select id="f-endpoint" name="endpoint">
      <option value="">All forms</option>
      ${formOptions(choices, endpointId)}
    </select>
    <button>Show</button>
  </form>`;
}

function emptyView({ endpointId, before }: HeldParts): Html {
  const isAll = endpointId === "" && before === null;
  const words =
    "Posts that look like spam, posts beyond the month’s limit and posts from other sites are kept here for a while.";
  return isAll
    ? emptyCard("Nothing is held", words, html`<a class="button" href="/dashboard">To the inbox</a>`)
    : emptyCard("Nothing is held here", words, html`<a class="button" href="/dashboard/held">Show all</a>`);
}

function tableView(parts: HeldParts): Html {
  const { posts, endpointId, before, mayChange } = parts;
  const newest = posts[0]?.id ?? "";
  const rows = postTable(
    "Why",
    posts.map((post) => rowView(post, parts)),
  );
  if (!mayChange) return html`<div class="card inbox">${rows} ${pageLinks(parts)}</div>`;
  return html`<form class="card inbox" method="post" action="${addressOfHeld(endpointId, "/release")}">
      <div class="bar bulk" role="group" aria-label="With the selected">
        <b data-selected>With the selected:</b>
        <button data-key="h">Release <kbd>h</kbd></button>
        <button class="danger" formaction="${addressOfHeld(endpointId, "/drop")}">Drop</button>
      </div>
      ${rows} ${pageLinks(parts)}
    </form>
    ${
      before === null &&
      html`<form method="post" action="${addressOfHeld(endpointId, "/drop-all")}">
        <input type="hidden" name="newest" value="${newest}" /><button class="danger">
          Drop all that is held${endpointId === "" ? "" : " for this form"}
        </button>
      </form>`
    }`;
}

function pageLinks({ endpointId, before, nextCursor }: HeldParts): Html | null {
  if (before === null && nextCursor === null) return null;
  return html`<nav class="pages" aria-label="Pages">
    <span>${before !== null && html`<a href="${addressOfHeld(endpointId)}">← Newest</a>`}</span>
    <span
      >${nextCursor !== null && html`<a rel="next" href="${addressOfHeld(endpointId, "", nextCursor)}">Older →</a>`}</span
    >
  </nav>`;
}

function rowView(post: HeldPost, { endpoints, endpointId, showsWorkspace }: HeldParts): Html {
  const { from, text } = previewOf(contentOf(post));
  const who = from === "" ? "No name" : from;
  return html`<tr data-held="${post.id}">
    <td class="pick"><input type="checkbox" name="id" value="${post.id}" aria-label="Select the post of ${who}" /></td>
    <td class="c-from">
      <a class="preview" href="${addressOfHeld(endpointId, `/${post.id}`)}"
        ><b><bdi>${who}</bdi></b><span dir="auto">${text}</span></a
      >
      <small class="muted" dir="auto">${strongestOf(post)}</small>
    </td>
    <td class="tag c-form">${formName(endpoints.get(post.endpointId), showsWorkspace)}</td>
    <td class="c-score">${whyPill(post)}</td>
    <td class="right c-when muted num">${time(post.createdAt)}</td>
  </tr>`;
}

/** The reason with the most weight. */
function strongestOf({ why, origin, spamReasons }: HeldPost): string {
  if (why === "origin" && origin === "null") return "Sent from a page that names no site.";
  if (why === "origin") return `Sent from ${plainText(origin ?? "")}, which is not among the form’s sites.`;
  if (why === "limit") return "The month’s limit of the plan was reached.";
  const strongest = spamReasons.reduce((most, each) => (each.points > most.points ? each : most), {
    points: 0,
    detail: "",
  });
  return plainText(strongest.detail).slice(0, 120).toWellFormed();
}

function whyPill(post: HeldPost): Html | null {
  if (post.why === "origin") return html`<span class="pill medium">another site</span>`;
  return post.why === "limit" ? html`<span class="pill medium">over the limit</span>` : scorePill(post);
}

interface HeldContext {
  readonly formName: string;
  /** Null for viewers who see only one workspace. */
  readonly workspaceName: string | null;
  readonly mayChange: boolean;
}

/** One held post with everything that is needed to decide about it. */
export function heldPostView(
  post: HeldPost,
  { formName: name, workspaceName, mayChange }: HeldContext,
  endpointId: string,
): Html {
  return html`<nav class="crumbs" aria-label="Place">
      <a href="${addressOfHeld(endpointId)}">← Held</a>
    </nav>
    <div class="head">
      <h1 class="stranger"><bdi>${titleOf(contentOf(post))}</bdi></h1>
      ${whyPill(post)} ${workspaceName !== null && html`<span class="tag">Workspace <bdi>${workspaceName}</bdi></span>`}
      ${
        mayChange &&
        html`<form class="actions" method="post" action="${addressOfHeld(endpointId, "/release")}">
          <input type="hidden" name="id" value="${post.id}" />
          <button class="primary" data-key="h">Release <kbd>h</kbd></button>
          <button class="danger" formaction="${addressOfHeld(endpointId, "/drop")}">Drop</button>
        </form>`
      }
    </div>
    <div class="two">
      <div class="stack">${factsCard(post, name, {})} ${setAsideCard(post.setAside, null)} ${senderCard(post)}</div>
      <div>
        <section class="card">
          <header><h2>Why it was refused</h2></header>
          ${post.why === "limit" && html`<p>The month’s limit of the plan was reached when it came.</p>`}
          ${post.why === "origin" && html`<p dir="auto">${strongestOf(post)}</p>`}
          ${reasonList(post)}
        </section>
      </div>
    </div>`;
}
