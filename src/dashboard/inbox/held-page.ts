import { yieldToOthers } from "../../database/slices.ts";
import { getViewableEndpoint, viewableEndpointIds } from "../../endpoints/endpoint-store.ts";
import { readEndpointNames } from "../../endpoints/viewable-endpoints.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { html, type Html } from "../../foundation/html.ts";
import { isId } from "../../foundation/id.ts";
import type { Viewer } from "../../sessions/session.ts";
import { concealReasons } from "../../submissions/stored/conceal-reasons.ts";
import { dropAllHeld, dropHeld, releaseHeld } from "../../submissions/held/held-operations.ts";
import {
  countHeldPostsOf,
  getViewableHeldPost,
  type HeldPost,
  type HeldPostFilter,
  listHeldPosts,
} from "../../submissions/held/held-post.ts";
import { MAX_PAGE_BYTES } from "../../operations/list-page.ts";
import { findStanding, mayWithAny, refusalOf } from "../../workspaces/standing.ts";
import { type Answer, page, redirect } from "../answer.ts";
import { listFormChoices } from "../forms/form-choice.ts";
import { hasSeveralWorkspaces } from "../forms/form-name.ts";
import { addressOfHeld, heldPostView, heldView } from "./held-view.ts";
import type { DashboardParts } from "../parts.ts";
import { PAGE_ROWS } from "./read-inbox.ts";
import { nameForMany } from "./read-submission.ts";
import type { Routes, Visit } from "../routes.ts";

/** Posts that were refused as spam or over the limit. They can be released or dropped. */
export function heldPages(routes: Routes, parts: DashboardParts): void {
  const { db } = parts;

  routes.read("/held", (visit) => listPage(parts, visit));

  routes.read("/held/:id", async ({ viewer, params, query }) => {
    const post = await db.read(function* () {
      const found = yield* getViewableHeldPost(viewer, params["id"] ?? "");
      return (yield* concealReasons(viewer))(found);
    });
    const endpoint = await db.read(function* () {
      const { name, workspaceId } = yield* getViewableEndpoint(viewer, post.endpointId);
      const standing = yield* findStanding(viewer, workspaceId);
      return {
        formName: name,
        workspaceName: yield* nameForMany(viewer, workspaceId),
        mayChange: standing !== null && refusalOf(standing, "held:write") === null,
      };
    });
    return page("Held post", heldPostView(post, endpoint, query.get("endpoint") ?? ""));
  });

  routes.write("/held/release", async (visit) => {
    const posts = await readPosts(parts, visit);
    const back = addressOfHeld(visit.query.get("endpoint") ?? "");
    if (posts.length === 0) return redirect(back, "none-selected");
    return releaseAll(visit, posts, back);
  });

  routes.write("/held/drop", async (visit) => {
    const posts = await readPosts(parts, visit);
    const endpointId = visit.query.get("endpoint") ?? "";
    const back = addressOfHeld(endpointId);
    if (posts.length === 0) return redirect(back, "none-selected");
    const ids = posts.map(({ id }) => id);
    if (visit.form.get("confirmed") !== "yes") {
      const inputs = ids.map((id) => html`<input type="hidden" name="id" value="${id}" />`);
      return page(
        "Drop for good?",
        confirmView(addressOfHeld(endpointId, "/drop"), ids.length, inputs, back),
      );
    }
    await visit.perform(dropHeld, { held: ids });
    return redirect(back, "held-dropped", ids.length);
  });

  routes.write("/held/drop-all", (visit) => dropAll(parts, visit));
}

async function listPage(parts: DashboardParts, { viewer, query }: Visit): Promise<Answer> {
  const { db, config } = parts;
  const [endpointId, before] = [query.get("endpoint") ?? "", query.get("before")];
  const filter = await toFilter(parts, viewer, endpointId);
  const { data, nextCursor } = await db.read(() => listHeldPosts(filter, PAGE_ROWS, before, MAX_PAGE_BYTES));
  const { endpoints, choices, conceal, mayChange } = await db.read(function* () {
    const forms = yield* listFormChoices(viewer);
    const shown = forms.filter(({ id }) => endpointId === "" || id === endpointId);
    return {
      conceal: yield* concealReasons(viewer),
      endpoints: yield* readEndpointNames([...new Set(data.map((held) => held.endpointId))]),
      choices: forms,
      mayChange: yield* mayWithAny(viewer, "held:write", shown),
    };
  });
  const { days } = config.held;
  const showsWorkspace = hasSeveralWorkspaces(choices);
  const list = {
    posts: data.map((each) => conceal(each)),
    endpoints,
    choices,
    showsWorkspace,
    mayChange,
    endpointId,
    before,
    nextCursor,
    days,
  };
  return page("Held", heldView(list));
}

/** @throws not_found if the viewer does not see the endpoint */
function toFilter({ db }: DashboardParts, viewer: Viewer, endpointId: string): Promise<HeldPostFilter> {
  return db.read(function* () {
    const every = { since: null, until: null };
    if (endpointId !== "")
      return { ...every, endpointIds: [(yield* getViewableEndpoint(viewer, endpointId)).id] };
    return { ...every, endpointIds: yield* viewableEndpointIds(viewer) };
  });
}

/** The ticked posts. @throws not_found, with the same message for one that does not exist and for somebody else's */
async function readPosts({ db }: DashboardParts, { viewer, form }: Visit): Promise<readonly HeldPost[]> {
  const ids = [...new Set(form.getAll("id"))];
  if (ids.length > PAGE_ROWS)
    throw new FormsvcError("invalid_request", `Select at most ${PAGE_ROWS} posts at once.`);
  return db.read(function* () {
    const posts: HeldPost[] = [];
    for (const id of ids) posts.push(yield* getViewableHeldPost(viewer, id));
    return posts;
  });
}

/** Releases posts one after the other, oldest first, as far as the monthly limit allows. Each is a transaction of its own. */
export async function releaseAll(
  { perform }: Visit,
  posts: readonly HeldPost[],
  back: string,
): Promise<Answer> {
  let released = 0;
  for (const { id } of posts.toSorted((one, other) => (one.id < other.id ? -1 : 1))) {
    await yieldToOthers();
    try {
      await perform(releaseHeld, { held: id });
      released += 1;
    } catch (error) {
      if (!(error instanceof FormsvcError) || error.code !== "plan_limit") throw error;
      return redirect(back, "held-limit", released);
    }
  }
  return redirect(back, "held-released", released);
}

/** Drops everything that the list shows, on all its pages, up to the newest post that it showed. */
async function dropAll(parts: DashboardParts, { viewer, query, form, perform }: Visit): Promise<Answer> {
  const endpointId = query.get("endpoint") ?? "";
  const newest = form.get("newest") ?? "";
  if (!isId("held", newest)) throw new FormsvcError("invalid_request", "The form does not say what to drop.");
  const filter = await toFilter(parts, viewer, endpointId);
  const back = addressOfHeld(endpointId);
  if (form.get("confirmed") !== "yes") {
    const count = await parts.db.read(() => countHeldPostsOf(filter.endpointIds, newest));
    const input = html`<input type="hidden" name="newest" value="${newest}" />`;
    return page("Drop all?", confirmView(addressOfHeld(endpointId, "/drop-all"), count, [input], back));
  }
  const { dropped } = await perform(dropAllHeld, { endpoint: endpointId || null, newest });
  return redirect(back, "held-dropped", dropped);
}

function confirmView(action: string, count: number, inputs: readonly Html[], back: string): Html {
  return html`<h1>Drop ${count === 1 ? "this post" : `${count} posts`} for good?</h1>
    <p>What is dropped cannot be brought back. Nobody who sent it is told.</p>
    <form class="actions-left" method="post" action="${action}">
      <input type="hidden" name="confirmed" value="yes" />
      ${inputs}
      <button class="danger">Drop ${count === 1 ? "it" : `all ${count}`}</button>
      <a class="button" href="${back}">Keep ${count === 1 ? "it" : "them"}</a>
    </form>`;
}
