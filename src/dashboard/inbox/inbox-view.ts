import type { EndpointInWorkspace } from "../../endpoints/viewable-endpoints.ts";
import { html, type Html } from "../../foundation/html.ts";
import { firstIdAt, timeOfId } from "../../foundation/id.ts";
import { emptyCard } from "../kit/empty-card.ts";
import { formOptions } from "../forms/form-choice.ts";
import { formName, hasSeveralWorkspaces } from "../forms/form-name.ts";
import { addressOf, filterMembers, type InboxFilter, isEverything, NO_FILTER } from "./inbox-filter.ts";
import { postTable } from "./post-table.ts";
import { contentOf, previewOf } from "./preview.ts";
import type { InboxPage, InboxRow, PagePosition } from "./read-inbox.ts";
import { markPill, scorePill } from "./score-view.ts";
import { countOf } from "../../foundation/count-of.ts";
import { time, timeText } from "../kit/time.ts";
import { workMarks } from "./work-view.ts";
import { WEEK_MS } from "../../foundation/time-units.ts";

export interface InboxParts {
  readonly shown: InboxFilter;
  readonly position: PagePosition;
  readonly found: InboxPage;
  /** The endpoints that the viewer may see. */
  readonly choices: readonly EndpointInWorkspace[];
  /** What the viewer may do with posts of some of these endpoints. Buttons for other actions are left out. */
  readonly may: {
    readonly change: boolean;
    readonly export: boolean;
    readonly purge: boolean;
    /** Whether the viewer may make forms. */
    readonly make: boolean;
    /** Whether the viewer may change forms, so that people can fill them in. */
    readonly publish: boolean;
  };
  /** The content above the list; null on pages other than the first. */
  readonly top: Html | null;
  /** The account of the viewer. */
  readonly accountId: string;
  /** The number of days that the bin keeps something. */
  readonly binDays: number;
  readonly now: number;
}

export function inboxView(parts: InboxParts): Html {
  const { shown, found, choices, may, top, now } = parts;
  // Submissions that come while no stream is open, as in a hidden tab, are counted when it opens.
  const events = `/dashboard/events?after=${firstIdAt("sub", now)}`;
  // A viewer without forms has nothing to search.
  const hasForms = choices.length > 0;
  return html`<div class="head">
      <h1>Inbox</h1>
      ${hasForms && searchForm(parts)}
    </div>
    ${top} ${hasForms && chips(parts)} ${binNote(parts)}
    <div data-live="${events}" data-list="${addressOf(shown)}"></div>
    ${found.rows.length === 0 ? emptyView(parts) : html`${tableView(parts)} ${!shown.deleted && may.export && exportLinks(shown)}`}`;
}

/** The search as it was typed, with what is wrong with it. */
export function refusedSearch(typed: Pick<InboxParts, "shown" | "choices">, problem: string): Html {
  return html`<div class="head">
      <h1>Inbox</h1>
      ${searchForm(typed)}
    </div>
    <p class="notice bad" role="alert">${problem}</p>`;
}

function searchForm({ shown, choices }: Pick<InboxParts, "shown" | "choices">): Html {
  const {
    class: spamClass = "",
    unread = "",
    state = "",
    assignee = "",
    deleted = "",
  } = filterMembers(shown);
  const hidden = { class: spamClass, unread, state, assignee, deleted };
  const isSet = [shown.since, shown.until, shown.workspace, shown.endpoint].some((value) => value !== "");
  const hasWorkspaces = shown.workspace !== "" || hasSeveralWorkspaces(choices);
  return html`<form class="search" role="search" action="/dashboard">
    ${Object.entries(hidden).map(
      ([name, value]) => value !== "" && html`<input type="hidden" name="${name}" value="${value}" />`,
    )}
    <input
      type="search"
      name="q"
      value="${shown.q}"
      maxlength="200"
      placeholder="Search every field"
      aria-label="Search every field"
      data-key="/"
      dir="auto"
    />
    <button>Search</button>
    <details>
      <summary>${hasWorkspaces ? "Workspace, form and dates" : "Form and dates"}${isSet && html` <span class="hidden-text">(set)</span>●`}</summary>
      <div>
        ${hasWorkspaces && workspaceSelect(shown, choices)} ${endpointSelect(shown, choices)} ${dayField("since", "From", shown.since)} ${dayField("until", "Before", shown.until)}
        <button>Show</button>
      </div>
    </details>
  </form>`;
}

/** A select with the workspaces that have forms. */
function workspaceSelect({ workspace }: InboxFilter, choices: readonly EndpointInWorkspace[]): Html {
  const names = new Map(choices.map(({ workspaceId, workspaceName }) => [workspaceId, workspaceName]));
  if (workspace !== "" && !names.has(workspace)) names.set(workspace, "This workspace");
  return html`<div class="field">
    <label for="f-workspace">Workspace</label>
    <select id="f-workspace" name="workspace">
      <option value="">All workspaces</option>
      ${[...names].map(
        ([id, name]) => html`<option value="${id}" ${id === workspace && html` selected`}>${name}</option>`,
      )}
    </select>
  </div>`;
}

function endpointSelect(shown: InboxFilter, choices: readonly EndpointInWorkspace[]): Html {
  const isKnown = choices.some(({ id }) => id === shown.endpoint);
  const others =
    shown.endpoint === "" || isKnown
      ? null
      : html`<option selected value="${shown.endpoint}">This form</option>`;
  return html`<div class="field">
    <label for="f-endpoint">Form</label>
    <select id="f-endpoint" name="endpoint">
      <option value="">All forms</option>
      ${others}${formOptions(choices, shown.endpoint)}
    </select>
  </div>`;
}

/** An input for a day. If the address has another time, it is a text input, because an input for days would lose that time. */
function dayField(name: string, label: string, value: string): Html {
  const type = value === "" || /^\d{4}-\d\d-\d\d$/.test(value) ? "date" : "text";
  return html`<div class="field">
    <label for="f-${name}">${label}</label><input type="${type}" id="f-${name}" name="${name}" value="${value}" />
  </div>`;
}

/** The usual filters, each as a link that sets it, or removes it if it is set. */
function chips({ shown, now }: InboxParts): Html {
  const lastWeek = new Date(now - WEEK_MS).toISOString().slice(0, 10);
  const chip = (label: string, isOn: boolean, on: Partial<InboxFilter>, off: Partial<InboxFilter>): Html =>
    html`<a class="chip" ${isOn && html` aria-current="true"`} href="${addressOf({ ...shown, ...(isOn ? off : on) })}"
      ><bdi>${label}</bdi></a
    > `;
  const ofClass = (label: string, spamClass: "medium" | "high"): Html =>
    chip(label, shown.spamClass === spamClass, { spamClass }, { spamClass: "" });
  const ofState = (label: string, state: "open" | "done"): Html =>
    chip(label, shown.state === state, { state }, { state: "" });
  return html`<nav class="chips" aria-label="Usual filters">
    ${chip("All", isEverything(shown), NO_FILTER, NO_FILTER)}${ofState("Open", "open")}${chip("Unread", shown.unread, { unread: true }, { unread: false })}${chip("Mine", shown.assignee === "me", { assignee: "me" }, { assignee: "" })}${ofClass("Worth a look", "medium")}${ofClass("Suspicious", "high")}${chip("Last 7 days", shown.since === lastWeek && shown.until === "", { since: lastWeek, until: "" }, { since: "" })}${ofState("Done", "done")}${chip("Bin", shown.deleted, { ...NO_FILTER, deleted: true }, { deleted: false })}
    <span class="live" data-live-mark hidden>Live</span>
  </nav>`;
}

function tableView({ shown, position, found, choices, may, accountId }: InboxParts): Html {
  const showsWorkspace = hasSeveralWorkspaces(choices);
  // The choices tell apart two workspaces with the same name.
  const labelled = new Map(choices.map((choice) => [choice.id, choice]));
  const back = addressOf(shown, "/bulk", { before: position.before, after: position.after });
  return html`<form class="card inbox" method="post" action="${back}">
    <div class="bar bulk" role="group" aria-label="With the selected">
      <b data-selected>With the selected:</b>
      ${shown.deleted ? binButtons(may) : buttons(may, shown)}
    </div>
    ${postTable(
      "State",
      found.rows.map((row) =>
        rowView({ ...row, endpoint: labelled.get(row.submission.endpointId) ?? row.endpoint }, shown, {
          showsWorkspace,
          accountId,
        }),
      ),
    )}
    ${pageLinks(shown, found)}
  </form>`;
}

const DONE_BUTTON = html`<button name="do" value="done" data-key="e">Done <kbd>e</kbd></button>`;
const OPEN_BUTTON = html`<button name="do" value="open">Open again</button>`;

const READ_BUTTON = html`<button name="do" value="read">Mark read</button>`;
const UNREAD_BUTTON = html`<button name="do" value="unread" data-key="u">Mark unread <kbd>u</kbd></button>`;

function buttons({ change }: InboxParts["may"], { state }: InboxFilter): Html {
  if (!change) return html`${READ_BUTTON} ${UNREAD_BUTTON}`;
  return html`${state === "done" ? OPEN_BUTTON : DONE_BUTTON}
    <button name="do" value="assign" data-key="a">Assign… <kbd>a</kbd></button>
    ${READ_BUTTON}
    <button name="do" value="ham" data-key="h">Not spam <kbd>h</kbd></button>
    <button name="do" value="spam" data-key="s">Spam <kbd>s</kbd></button>
    ${UNREAD_BUTTON}
    <button name="do" value="delete" class="danger">Delete</button>`;
}

function binButtons({ change, purge }: InboxParts["may"]): Html {
  return html`${change && html`<button name="do" value="undelete">Bring back</button>`}
    ${purge && html`<button name="do" value="purge" class="danger">Delete for good…</button>`}`;
}

function binNote({ shown, found, may, binDays }: InboxParts): Html | null {
  if (!shown.deleted) return null;
  return html`<div class="head">
    <p class="muted">What was deleted stays here for ${countOf(binDays, "day")}, and can be brought back.</p>
    ${
      found.rows.length > 0 &&
      may.purge &&
      html`<form class="actions" method="post" action="${addressOf(shown, "/empty-bin")}">
        <button class="danger">${emptyWords(shown)}</button>
      </form>`
    }
  </div>`;
}

function emptyWords({ workspace, endpoint }: InboxFilter): string {
  if (endpoint !== "") return "Empty this form’s bin…";
  return workspace === "" ? "Empty the bin…" : "Empty this workspace’s bin…";
}

function rowView(
  { submission, endpoint, isRead, mark }: InboxRow,
  shown: InboxFilter,
  { showsWorkspace, accountId }: { readonly showsWorkspace: boolean; readonly accountId: string },
): Html {
  const { id, createdAt } = submission;
  const { from, text } = previewOf(contentOf(submission));
  const who = from === "" ? "No name" : from;
  const beside = Object.keys(submission.setAside?.fields ?? {}).length;
  const opinion = mark === null ? scorePill(submission) : markPill(mark);
  const looks = [...(isRead ? [] : ["unread"]), ...(submission.state === "done" ? ["finished"] : [])].join(
    " ",
  );
  return html`<tr data-submission="${id}" ${looks !== "" && html` class="${looks}"`}${mark === "spam" && html` data-spam`}>
    <td class="pick"><input type="checkbox" name="id" value="${id}" aria-label="Select the submission of ${who}" /></td>
    <td class="c-from">
      <a class="preview" href="${addressOf(shown, `/submissions/${id}`)}"
        ><b>${!isRead && html`<span class="hidden-text">Unread: </span>`}<bdi>${who}</bdi></b
        ><span dir="auto">${text}${beside > 0 && html`<bdi class="muted"> + ${beside} not among the fields</bdi>`}</span></a
      >
    </td>
    <td class="tag c-form">
      ${formName(endpoint, showsWorkspace)}
    </td>
    <td class="c-score">${opinion}${workMarks(submission, accountId)}</td>
    <td class="right c-when muted num">${time(createdAt)}</td>
  </tr>`;
}

function pageLinks(shown: InboxFilter, { newer, older, stoppedAt }: InboxPage): Html | null {
  if (newer === null && older === null && stoppedAt === null) return null;
  return html`<nav class="pages" aria-label="Pages">
    <span>${newer !== null && html`<a rel="prev" href="${addressOf(shown, "", { after: newer })}">← Newer</a>`}</span>
    ${stoppedAt !== null && html`<span>Searched back to ${timeText(timeOfId(stoppedAt))}</span>`}
    <span
      >${older !== null && html`<a rel="next" href="${addressOf(shown, "", { before: older })}">Older →</a>`}${
        stoppedAt !== null &&
        html`<a href="${addressOf(shown, "", { before: stoppedAt })}">Search further back →</a>`
      }</span
    >
  </nav>`;
}

/** The empty list, with what to do next. */
function emptyView({ shown, found, choices, may, position }: InboxParts): Html {
  if (choices.length === 0 && !may.make)
    return emptyCard("You see no form", "Whoever owns the workspace decides which forms you see.", html``);
  if (choices.length === 0) {
    return emptyCard(
      "You have no form yet",
      "Make one, paste it into your website or give it a page of its own, and what people send arrives here.",
      html`<a class="button primary" href="/dashboard/endpoints/new">Make a form</a>`,
    );
  }
  if (found.stoppedAt !== null) {
    return emptyCard(
      "Nothing found so far",
      html`Searched back to ${timeText(timeOfId(found.stoppedAt))}. Older submissions were not searched yet.`,
      html`<a class="button primary" href="${addressOf(shown, "", { before: found.stoppedAt })}">Search further back</a>
        <a class="button" href="/dashboard">Show everything</a>`,
    );
  }
  if (shown.deleted && isEverything({ ...shown, deleted: false }) && position.before === "") {
    return emptyCard(
      "The bin is empty",
      "What you delete comes here first, so that nothing is lost by mistake.",
      html`<a class="button" href="/dashboard">To the inbox</a>`,
    );
  }
  if (!isEverything(shown) || position.before !== "") {
    return emptyCard(
      shown.unread && isEverything({ ...shown, unread: false })
        ? "You have read everything"
        : "Nothing matches",
      html`No ${position.before === "" ? "" : "older "}submission fits this filter.`,
      html`<a class="button" href="/dashboard">Show everything</a>`,
    );
  }
  if (!may.publish)
    return emptyCard(
      "Nothing has arrived yet",
      "What people send through the forms that you see is shown here. This page tells you within a second.",
      html``,
    );
  return emptyCard(
    "Nothing has arrived yet",
    "Put the form into your website, or give it a page of its own, and send something from there. This page tells you within a second.",
    html`<a class="button primary" href="/dashboard/endpoints">See my forms</a>`,
  );
}

function exportLinks(shown: InboxFilter): Html {
  return html`<p class="muted exports">
    Download ${isEverything(shown) ? "everything" : "everything that fits this filter"}:
    <a download href="${addressOf(shown, "/export.csv")}">CSV for a spreadsheet</a> ·
    <a download href="${addressOf(shown, "/export.xlsx")}">Excel</a> ·
    <a download href="${addressOf(shown, "/export.json")}">JSON</a> ·
    <a download href="${addressOf(shown, "/export.zip")}">files as ZIP</a> ·
    <a href="${addressOf(shown, "/choose-export")}">Choose columns and time zone…</a>
  </p>`;
}
