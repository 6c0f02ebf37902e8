import type { Steps } from "../../database/steps.ts";
import { getViewableEndpoint } from "../../endpoints/endpoint-store.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { html, type Html } from "../../foundation/html.ts";
import type { Viewer } from "../../sessions/session.ts";
import { markSubmissionsAs, markSubmissionsRead } from "../../submissions/manage/submission-operations.ts";
import {
  deleteSubmissions,
  emptyBin,
  setSubmissions,
  undeleteSubmissions,
} from "../../submissions/manage/work-operations.ts";
import type { Access } from "../../operations/access.ts";
import type { Assignee } from "../../workspaces/assignee.ts";
import { isInReach } from "../../workspaces/reach.ts";
import { listAssigneesOf } from "../../submissions/manage/reach-assignees.ts";
import { listBinned } from "../../submissions/stored/submission-bin.ts";
import { getViewableSubmission } from "../../submissions/stored/submission-store.ts";
import { listDone } from "../../submissions/stored/submission-work.ts";
import { listMarks } from "../../history/teach.ts";
import { type Answer, page, redirect, redirectWithUndo, type Undoable } from "../answer.ts";
import { canBeUndone } from "../kit/notices.ts";
import { addressOf, type InboxFilter, readInboxFilter } from "./inbox-filter.ts";
import type { DashboardParts } from "../parts.ts";
import { contentOf, titleOf } from "./preview.ts";
import { PAGE_ROWS } from "./read-inbox.ts";
import type { Routes, Visit } from "../routes.ts";
import { assigneeSelect } from "./work-view.ts";

/** The actions on submissions, one or many, by the value of the button. */
const DEEDS = [
  "spam",
  "ham",
  "none",
  "read",
  "unread",
  "done",
  "open",
  "assign",
  "delete",
  "undelete",
  "purge",
] as const;
type Deed = (typeof DEEDS)[number];

/** Runs an action on the submissions that are ticked in the inbox, or on the one whose page has the button. */
export function bulkPages(routes: Routes, parts: DashboardParts): void {
  routes.write("/bulk", async (visit) => {
    const asked = await readAsked(parts, visit);
    return (
      (await answerIfNothingIsLeft(parts, visit, asked)) ??
      (await askFirst(parts, visit, asked)) ??
      (await carryOut(parts, visit, asked))
    );
  });

  routes.write("/empty-bin", async ({ form, query, perform }) => {
    const filter = readInboxFilter(query);
    const back = addressOf(filter);
    if (form.get("confirmed") !== "yes") return page("Empty the bin?", emptyView(filter, back));
    const { deleted } = await perform(emptyBin, {
      workspace: filter.workspace || null,
      endpoint: filter.endpoint || null,
    });
    return redirect(back, "did-purge", deleted);
  });
}

/** What somebody asked for, and for which submissions. */
interface Asked {
  readonly deed: Deed;
  /** The ids of all submissions that the form names. */
  readonly named: readonly string[];
  /** The ids of those that the action can still change. */
  readonly ids: readonly string[];
  /** The ids of submissions that get their mark as ham back when a mark as spam is undone. */
  readonly hams: readonly string[];
  /** Whether the submissions cannot be brought back. */
  readonly isFinal: boolean;
  /** The address of the page that contained the form. */
  readonly back: string;
  /** The address of the inbox, with the filter that the page had. */
  readonly inbox: string;
}

async function readAsked({ db, config }: DashboardParts, { form, query, viewer }: Visit): Promise<Asked> {
  const deed = readDeed(form);
  const named = readIds(form, "id");
  const ids = await db.read(() => dropStale(viewer, deed, named));
  const hams = deed === "none" ? readIds(form, "ham") : [];
  const isFinal = deed === "purge" || (deed === "delete" && config.submissions.binDays === 0);
  const { path, ...position } = readReturn(query);
  const filter = readInboxFilter(query);
  const inbox = addressOf(filter);
  return { deed, named, ids, hams, isFinal, back: addressOf(filter, path, position), inbox };
}

async function answerIfNothingIsLeft(
  { db }: DashboardParts,
  { viewer }: Visit,
  { deed, named, ids, hams, back, inbox }: Asked,
): Promise<Answer | null> {
  if (ids.length + hams.length > 0) return null;
  if (named.length === 0) return redirect(back, "none-selected");
  if (deed !== "undelete") return redirect(inbox, "in-bin", named.length);
  // Somebody pressed Undo twice: the answer to the second press takes the place of the first.
  await db.read(() => getAllowed(viewer, named, "submissions:write"));
  return redirect(back, "did-undelete", named.length);
}

/** The page that asks for a confirmation, or for the account to assign to; null if nothing needs to be asked any more. */
async function askFirst(
  { db }: DashboardParts,
  visit: Visit,
  { deed, ids, isFinal, back }: Asked,
): Promise<Answer | null> {
  const { form, viewer } = visit;
  if (isFinal && form.get("confirmed") !== "yes") {
    const access = deed === "purge" ? "submissions:purge" : "submissions:write";
    const submissions = await db.read(() => getAllowed(viewer, ids, access));
    return page("Delete for good?", confirmView(visit, submissions, back));
  }
  if (deed !== "assign" || form.has("assignee")) return null;
  const assigning = await db.read(() => readAssigning(viewer, ids));
  return page("Assign", assignView(visit, assigning, back));
}

async function carryOut(
  { db }: DashboardParts,
  visit: Visit,
  { deed, ids, hams, isFinal, back, inbox }: Asked,
): Promise<Answer> {
  const undoable = await db.read(() => readUndoable(deed, ids));
  await doAll(visit, deed, ids);
  if (hams.length > 0) await visit.perform(markSubmissionsAs, { submissions: hams, mark: "ham" });
  // A submission that is gone has no page. After "unread", showing the page would mark the submission as read again.
  const isGone = deed === "delete" || deed === "purge" || deed === "unread";
  const to = isGone && readReturn(visit.query).path !== "" ? inbox : back;
  const notice = `did-${isFinal ? "purge" : hams.length > 0 ? "restore" : deed}`;
  const next = redirect(to, notice, ids.length + hams.length);
  return canBeUndone(notice) ? redirectWithUndo(next, undoable) : next;
}

/**
 * Leaves out what somebody has deleted or brought back since the page was loaded, so that the action goes on with the rest. Only the bin's
 * own actions are for what is in it.
 *
 * @throws not_found for a submission that is left out and that the viewer may not see, as for one that does not exist
 */
function* dropStale(viewer: Viewer, deed: Deed, ids: readonly string[]): Steps<readonly string[]> {
  if (deed === "purge") return ids;
  const binned = yield* listBinned(ids);
  const isStale = (id: string): boolean => binned.has(id) !== (deed === "undelete");
  for (const id of ids.filter(isStale)) yield* getViewableSubmission(viewer, id);
  return ids.filter((id) => !isStale(id));
}

/** The submissions that the action will change: those that are done already, or marked as spam, stay as they are when it is undone. */
function* readUndoable(deed: Deed, ids: readonly string[]): Steps<Undoable> {
  if (deed === "done") {
    const done = yield* listDone(ids);
    return { ids: ids.filter((id) => !done.has(id)), hams: [] };
  }
  if (deed !== "spam") return { ids, hams: [] };
  const marks = yield* listMarks(ids);
  return { ids: ids.filter((id) => !marks.has(id)), hams: ids.filter((id) => marks.get(id) === "ham") };
}

function readIds(form: URLSearchParams, name: "id" | "ham"): readonly string[] {
  const ids = [...new Set(form.getAll(name))];
  if (ids.length <= PAGE_ROWS) return ids;
  throw new FormsvcError("invalid_request", `Select at most ${PAGE_ROWS} submissions at once.`);
}

function readDeed(form: URLSearchParams): Deed {
  const deed = DEEDS.find((known) => known === form.get("do"));
  if (deed !== undefined) return deed;
  throw new FormsvcError("invalid_request", "The form does not say what to do with the submissions.");
}

/** The page that contained the form: a page of the inbox, or that of a submission. */
function readReturn(query: URLSearchParams): { path: string; before: string; after: string } {
  const on = query.get("on") ?? "";
  return {
    path: /^sub_\w+$/.test(on) ? `/submissions/${on}` : "",
    before: query.get("before") ?? "",
    after: query.get("after") ?? "",
  };
}

interface Named {
  readonly id: string;
  readonly workspaceId: string;
  readonly title: string;
}

/**
 * Reads the submissions before the person is asked to confirm.
 *
 * @throws not_found, with the same message for one that does not exist and for somebody else's; forbidden naming the role
 */
function* getAllowed(viewer: Viewer, ids: readonly string[], access: Access): Steps<readonly Named[]> {
  const named: Named[] = [];
  for (const id of ids) {
    const submission = yield* getViewableSubmission(viewer, id);
    const { workspaceId } = yield* getViewableEndpoint(viewer, submission.endpointId);
    yield* isInReach({ viewing: viewer, access }, workspaceId);
    named.push({ id, workspaceId, title: titleOf(contentOf(submission)) });
  }
  return named;
}

async function doAll({ perform, form }: Visit, deed: Deed, submissions: readonly string[]): Promise<void> {
  if (deed === "read" || deed === "unread") {
    await perform(markSubmissionsRead, { submissions, read: deed === "read" });
  } else if (deed === "delete" || deed === "purge") {
    await perform(deleteSubmissions, { submissions, now: deed === "purge" });
  } else if (deed === "undelete") {
    await perform(undeleteSubmissions, { submissions });
  } else if (deed === "done" || deed === "open") {
    await perform(setSubmissions, { submissions, state: deed });
  } else if (deed === "assign") {
    await perform(setSubmissions, { submissions, assignee: form.get("assignee") });
  } else if (submissions.length > 0) {
    await perform(markSubmissionsAs, { submissions, mark: deed === "none" ? null : deed });
    // Somebody who marks a post as spam has no need to open it.
    if (deed === "spam") await perform(markSubmissionsRead, { submissions });
  }
}

interface Assigning {
  readonly submissions: readonly Named[];
  readonly assignees: readonly Assignee[];
}

/** @throws forbidden naming the role */
function* readAssigning(viewer: Viewer, ids: readonly string[]): Steps<Assigning> {
  const submissions = yield* getAllowed(viewer, ids, "submissions:write");
  const workspaceIds = submissions.map(({ workspaceId }) => workspaceId);
  return { submissions, assignees: yield* listAssigneesOf(ids, workspaceIds) };
}

function assignView({ query, viewer }: Visit, { submissions, assignees }: Assigning, back: string): Html {
  return html`<h1>Assign ${submissions.length === 1 ? "this submission" : `these ${submissions.length} submissions`}</h1>
    <ul>
      ${submissions.map(({ title }) => html`<li><bdi>${title}</bdi></li>`)}
    </ul>
    <form method="post" action="/dashboard/bulk?${query.toString()}">
      ${submissions.map(({ id }) => html`<input type="hidden" name="id" value="${id}" />`)}
      <div class="field">
        <label for="assignee">Assigned to</label>
        ${assigneeSelect(assignees, { chosen: null, accountId: viewer.accountId })}
      </div>
      <p class="actions-left">
        <button class="primary" name="do" value="assign">Assign</button>
        <a class="button" href="${back}">Cancel</a>
      </p>
    </form>`;
}

function emptyView(filter: InboxFilter, back: string): Html {
  const all = filter.workspace === "" ? "all your forms" : "this workspace’s forms";
  return html`<h1>Empty the bin?</h1>
    <p>
      What was deleted of ${filter.endpoint === "" ? all : "this form"} is then gone for good, and is not
      sent to anybody any more.
    </p>
    <form class="actions-left" method="post" action="${addressOf(filter, "/empty-bin")}">
      <input type="hidden" name="confirmed" value="yes" />
      <button class="danger">Empty the bin</button>
      <a class="button" href="${back}">Keep it</a>
    </form>`;
}

function confirmView({ query, form }: Visit, submissions: readonly Named[], back: string): Html {
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
      <input type="hidden" name="do" value="${form.get("do") ?? ""}" />
      <input type="hidden" name="confirmed" value="yes" />
      ${submissions.map(({ id }) => html`<input type="hidden" name="id" value="${id}" />`)}
      <button class="danger">Delete ${isOne ? "it" : `all ${count}`}</button>
      <a class="button" href="${back}">Keep ${isOne ? "it" : "them"}</a>
    </form>`;
}
