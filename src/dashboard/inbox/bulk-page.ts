import type { Steps } from "../../database/steps.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { html, type Html } from "../../foundation/html.ts";
import type { Viewer } from "../../sessions/session.ts";
import { markSubmissionsAs, markSubmissionsRead } from "../../submissions/submission-operations.ts";
import { deleteSubmissions } from "../../submissions/work-operations.ts";
import { getViewableSubmission } from "../../submissions/submission-store.ts";
import { page, redirect } from "../answer.ts";
import { addressOf, readInboxFilter } from "./inbox-filter.ts";
import type { DashboardParts } from "../parts.ts";
import { contentOf, titleOf } from "./preview.ts";
import { PAGE_ROWS } from "./read-inbox.ts";
import type { Routes, Visit } from "../routes.ts";

/** What can be done with submissions, one or many, by the value of the button. */
const DEEDS = ["spam", "ham", "none", "read", "unread", "delete"] as const;
type Deed = (typeof DEEDS)[number];

/** What is done with the submissions that are ticked in the inbox, or with the one on its page. */
export function bulkPages(routes: Routes, parts: DashboardParts): void {
  routes.write("/bulk", async (visit) => {
    const { form, query, viewer } = visit;
    const ids = readIds(form);
    const deed = readDeed(form);
    const { path, ...place } = readPlace(query);
    const back = addressOf(readInboxFilter(query), path, place);
    if (ids.length === 0) return redirect(back, "none-selected");
    if (deed === "delete" && form.get("confirmed") !== "yes") {
      const submissions = await parts.db.read(() => getViewable(viewer, ids));
      return page("Delete for good?", confirmView(visit, submissions, back));
    }
    await doAll(visit, deed, ids);
    // The page of a submission that is gone, or that would be read again at once, cannot be shown.
    const isGone = deed === "delete" || deed === "unread";
    return redirect(
      isGone && path !== "" ? addressOf(readInboxFilter(query)) : back,
      `did-${deed}`,
      ids.length,
    );
  });
}

function readIds(form: URLSearchParams): readonly string[] {
  const ids = [...new Set(form.getAll("id"))];
  if (ids.length <= PAGE_ROWS) return ids;
  throw new FormsvcError("invalid_request", `Select at most ${PAGE_ROWS} submissions at once.`);
}

function readDeed(form: URLSearchParams): Deed {
  const deed = DEEDS.find((known) => known === form.get("do"));
  if (deed !== undefined) return deed;
  throw new FormsvcError("invalid_request", "The form does not say what to do with the submissions.");
}

/** The page that had the form: one of the inbox, or that of a submission. */
function readPlace(query: URLSearchParams): { path: string; before: string; after: string } {
  const on = query.get("on") ?? "";
  return {
    path: /^sub_\w+$/.test(on) ? `/submissions/${on}` : "",
    before: query.get("before") ?? "",
    after: query.get("after") ?? "",
  };
}

interface Named {
  readonly id: string;
  readonly title: string;
}

/** @throws not_found, in the same words, when one is not there and when it belongs to somebody else. */
function* getViewable(viewer: Viewer, ids: readonly string[]): Steps<readonly Named[]> {
  const named: Named[] = [];
  for (const id of ids)
    named.push({ id, title: titleOf(contentOf(yield* getViewableSubmission(viewer, id))) });
  return named;
}

async function doAll({ perform }: Visit, deed: Deed, submissions: readonly string[]): Promise<void> {
  if (deed === "read" || deed === "unread") {
    await perform(markSubmissionsRead, { submissions, read: deed === "read" });
  } else if (deed === "delete") {
    await perform(deleteSubmissions, { submissions, now: true });
  } else {
    await perform(markSubmissionsAs, { submissions, mark: deed === "none" ? null : deed });
    // Whoever says that it is spam needs not open it.
    if (deed === "spam") await perform(markSubmissionsRead, { submissions });
  }
}

function confirmView({ query }: Visit, submissions: readonly Named[], back: string): Html {
  const count = submissions.length;
  const isOne = count === 1;
  const many = isOne ? "this submission" : `these ${count} submissions`;
  const rest = isOne
    ? "It cannot be brought back, and is not sent to anybody any more."
    : "They cannot be brought back, and are not sent to anybody any more.";
  return html`<h1>Delete ${many} for good?</h1>
    <ul>
      ${submissions.map(({ title }) => html`<li><bdi>${title}</bdi></li>`)}
    </ul>
    <p>${rest}</p>
    <form class="actions-left" method="post" action="/dashboard/bulk?${query.toString()}">
      <input type="hidden" name="do" value="delete" />
      <input type="hidden" name="confirmed" value="yes" />
      ${submissions.map(({ id }) => html`<input type="hidden" name="id" value="${id}" />`)}
      <button class="danger">Delete ${isOne ? "it" : `all ${count}`}</button>
      <a class="button" href="${back}">Keep ${isOne ? "it" : "them"}</a>
    </form>`;
}
