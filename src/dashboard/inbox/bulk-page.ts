import { writeInTurn } from "../../database/read-in-turn.ts";
import type { Steps } from "../../database/steps.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { html, type Html } from "../../foundation/html.ts";
import type { Viewer } from "../../sessions/session.ts";
import { judgeSubmissions, removeSubmissions } from "../../submissions/administer-submissions.ts";
import { markRead, markUnread } from "../../submissions/read-marks.ts";
import { getViewableSubmission } from "../../submissions/submission-store.ts";
import { page, redirect } from "../answer.ts";
import { addressOf, readInboxFilter } from "./inbox-filter.ts";
import { applied, change, type DashboardParts } from "../parts.ts";
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
    await perform(parts, visit, deed, ids);
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

/** Marks teach the filter of a workspace, each for a millisecond or two, so only some are in one transaction. */
const MARKED_AT_ONCE = 10;

/**
 * All of them or none, if it is done at once. Nothing is lost for good with a note of who has read what, so that does not wait for the
 * disk.
 */
async function perform(
  parts: DashboardParts,
  { viewer, now }: Visit,
  deed: Deed,
  ids: readonly string[],
): Promise<void> {
  const { db } = parts;
  if (deed === "read" || deed === "unread") {
    return db.relaxedTransaction(function* () {
      yield* getViewable(viewer, ids);
      yield* deed === "read" ? markRead(viewer.accountId, ids) : markUnread(viewer.accountId, ids);
    });
  }
  if (deed === "delete") {
    return change(parts, function* () {
      yield* getViewable(viewer, ids);
      yield* removeSubmissions(viewer, ids, now);
    });
  }
  const mark = deed === "none" ? null : deed;
  await db.read(() => getViewable(viewer, ids));
  return applied(parts, async () => {
    for (let from = 0; from < ids.length; from += MARKED_AT_ONCE) {
      const some = ids.slice(from, from + MARKED_AT_ONCE);
      await writeInTurn(db, () => judgeSubmissions(viewer, { ids: some, mark }, now));
    }
    // Whoever says that it is spam needs not open it.
    if (mark === "spam") await db.relaxedTransaction(() => markRead(viewer.accountId, ids));
  });
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
