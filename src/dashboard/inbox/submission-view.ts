import { html, type Html } from "../../foundation/html.ts";
import { isGathered } from "../../outbox/queue/delivery.ts";
import { submissionJson } from "../../submissions/stored/submission-json.ts";
import type { StoredSubmission } from "../../submissions/stored/submission-work.ts";
import { REPLY_KIND } from "../../outbox/queue/recipient.ts";
import { adviceFor, attemptWords, deliveryWords } from "../notifications/delivery-words.ts";
import { notSentWords } from "../notifications/condition-words.ts";
import { recipientPath } from "../notifications/recipient-paths.ts";
import { addressOf, type InboxFilter } from "./inbox-filter.ts";
import { contentOf, titleOf } from "./preview.ts";
import { markPill, scorePill } from "./score-view.ts";
import { longestText, mailLink, replyAddressOf } from "./sender-facts.ts";
import type { SentMessage, UnsentMessage, WholeSubmission } from "./read-submission.ts";
import { pathOf } from "../forms/endpoint-frame.ts";
import { filesView } from "./files-view.ts";
import { setAsideCard } from "./set-aside-view.ts";
import { factsCard, prettyJson, reasonList, senderCard } from "./submission-cards.ts";
import { exactTime, time, tryTime } from "../kit/time.ts";
import type { Viewer } from "../../sessions/session.ts";
import { assigneeCard, assigneeShown, notesCard, type NotesCardParts } from "./work-view.ts";
import { DAY_MS } from "../../foundation/time-units.ts";

interface SubmissionViewParts extends WholeSubmission {
  readonly shown: InboxFilter;
  /** This and the next are the ids of the neighbours in the list. */
  readonly newer: string | null;
  readonly older: string | null;
  readonly viewer: Pick<Viewer, "accountId" | "email">;
  /** A note that was refused, with the reason. */
  readonly refused: NotesCardParts["refused"];
  /** The number of days that the bin keeps something. */
  readonly binDays: number;
  readonly now: number;
}

export function submissionView(parts: SubmissionViewParts): Html {
  const { submission, mark } = parts;
  return html`${neighbourLinks(parts)}
    <div class="head">
      <h1 class="stranger"><bdi>${titleOf(contentOf(submission))}</bdi></h1>
      ${submission.state === "done" && html`<span class="pill done">done</span>`}
      ${mark === null ? scorePill(submission) : markPill(mark)}
      ${parts.workspaceName !== null && html`<span class="tag">Workspace <bdi>${parts.workspaceName}</bdi></span>`} ${actions(parts)}
    </div>
    ${binNotice(parts)}
    <div class="two">
      <div class="stack">${factsCard(submission, parts.endpoint.name, parts.definition, (value) => filesView(value, parts))} ${asideCard(parts)} ${senderCard(submission)} ${jsonCard(submission)}</div>
      <div class="stack">${workCards(parts)} ${messagesCard(parts)} ${parts.may.seeDetails && scoreCard(submission)}</div>
    </div>`;
}

function asideCard({ submission, endpoint, definition, shown, may }: SubmissionViewParts): Html | null {
  if (!may.addField) return setAsideCard(submission.setAside, null);
  return setAsideCard(submission.setAside, {
    definition,
    action: addressOf(shown, `/submissions/${submission.id}/add-field`),
    fieldsPath: pathOf(endpoint, "/fields"),
  });
}

function neighbourLinks({ shown, newer, older }: SubmissionViewParts): Html {
  const link = (id: string | null, words: string, key: string): Html | false =>
    id !== null &&
    html`<a href="${addressOf(shown, `/submissions/${id}`)}" data-key="${key}">${words} <kbd>${key}</kbd></a>`;
  return html`<nav class="crumbs" aria-label="In the inbox">
    <a href="${addressOf(shown)}">← Inbox</a>
    <span class="turn">${link(newer, "Newer", "k")}${link(older, "Older", "j")}</span>
  </nav>`;
}

/** The cards for work. In the bin, and for readers, a submission cannot be changed. */
function workCards({ submission, assignees, viewer, shown, refused, may }: SubmissionViewParts): Html | null {
  const { id, notes, deletedAt } = submission;
  const mayWork = may.change && deletedAt === null;
  const { accountId, email } = viewer;
  if (!mayWork)
    return html`${assigneeShown(submission, accountId)}
    ${notes.length > 0 && notesCard({ notes, email, action: null, refused })}`;
  const action = addressOf(shown, "/bulk", { on: id });
  const notesAction = addressOf(shown, `/submissions/${id}/notes`);
  return html`${assigneeCard({ submission, assignees, accountId, action })}
  ${notesCard({ notes, email, action: notesAction, refused })}`;
}

function binNotice({ submission: { deletedAt }, binDays }: SubmissionViewParts): Html | null {
  if (deletedAt === null) return null;
  return html`<p class="notice warn">
    In the bin since ${exactTime(deletedAt)}. It is deleted for good on ${exactTime(deletedAt + binDays * DAY_MS)}.
  </p>`;
}

function actions({ submission, endpoint, mark, shown, may }: SubmissionViewParts): Html | null {
  const { id, data, state, deletedAt } = submission;
  if (deletedAt !== null && !may.change) return null;
  if (deletedAt !== null) {
    return html`<form class="actions" method="post" action="${addressOf(shown, "/bulk", { on: id })}">
      <input type="hidden" name="id" value="${id}" />
      <button class="primary" name="do" value="undelete">Bring back</button>
      ${may.purge && html`<button name="do" value="purge" class="danger">Delete for good…</button>`}
    </form>`;
  }
  const address = replyAddressOf(data);
  return html`<form class="actions" method="post" action="${addressOf(shown, "/bulk", { on: id })}">
    <input type="hidden" name="id" value="${id}" />
    ${
      address !== null &&
      html`<a class="button primary" href="${mailLink({ address, subject: `Re: ${endpoint.name}`, quoted: longestText(data) })}">Reply by mail</a>`
    }
    ${may.change && (state === "done" ? html`<button name="do" value="open">Open again</button>` : html`<button name="do" value="done" data-key="e">Done <kbd>e</kbd></button>`)}
    ${may.change && mark !== "ham" && html`<button name="do" value="ham" data-key="h">Not spam <kbd>h</kbd></button>`}
    ${may.change && mark !== "spam" && html`<button name="do" value="spam" data-key="s">Spam <kbd>s</kbd></button>`}
    ${may.change && mark !== null && html`<button name="do" value="none">Remove the mark</button>`}
    <button name="do" value="unread" data-key="u">Mark unread <kbd>u</kbd></button>
    <button type="button" data-copy="json">Copy as JSON</button>
    ${may.change && html`<button name="do" value="delete" class="danger">Delete</button>`}
  </form>`;
}

function jsonCard(submission: StoredSubmission): Html {
  return html`<details class="card">
    <summary>As JSON</summary>
    <pre id="json" tabindex="0">${prettyJson(submissionJson(submission))}</pre>
  </details>`;
}

function scoreCard(submission: StoredSubmission): Html {
  return html`<section class="card">
    <header><h2>${submission.spamClass === "low" ? "What the filter counted" : `Why ${submission.spamScore}?`}</h2></header>
    ${reasonList(submission)}
  </section>`;
}

function messagesCard(parts: SubmissionViewParts): Html | null {
  const { submission, messages, unsent, shown, may, now } = parts;
  if (messages === null) return null;
  const action = may.replay ? addressOf(shown, `/submissions/${submission.id}/replay`) : null;
  return html`<section class="card">
    <header><h2>Sent to</h2></header>
    ${
      messages.length + unsent.length === 0
        ? html`<p class="muted">
            Nobody. When it came, the form had no recipient who had agreed and who gets posts with this spam score.
            <a href="/dashboard/notifications">See who is told</a>
          </p>`
        : html`<ul class="way">
            ${messages.map((message) => messageView(message, { action, now }))}
            ${unsent.map((each) => unsentView(each, parts))}
          </ul>`
    }
  </section>`;
}

function unsentView(
  { leftOut, recipient }: UnsentMessage,
  { submission, definition }: SubmissionViewParts,
): Html {
  const { id, kind } = leftOut;
  return html`<li>
    ${recipient === null ? html`<span>Somebody who was deleted since</span>` : html`<a href="${recipientPath(kind, id)}">${recipient}</a>`}
    <span class="pill">not sent</span>
    <small>${notSentWords(leftOut, submission.data, definition)}</small>
  </li>`;
}

function messageView(
  { delivery, recipient, kind, attempts }: SentMessage,
  { action, now }: { readonly action: string | null; readonly now: number },
): Html {
  const { label, tone } = deliveryWords(delivery, now);
  const isWaiting = isGathered(delivery, now);
  const isUntried = delivery.state === "pending" && attempts.length === 0;
  const last = attempts.at(-1);
  const said =
    last === undefined || last.outcome === "delivered"
      ? null
      : (adviceFor(kind, last, delivery.state === "failed") ?? last.message);
  return html`<li>
    <a href="${recipientPath(kind, delivery.recipientId)}/deliveries/${delivery.id}">${recipient}</a>
    <span class="pill ${tone}">${label}</span>
    <small
      >${isWaiting ? html`with others in one e-mail` : attemptWords(attempts.length)}${last !== undefined && html` · last ${time(last.startedAt)}`}${
        last?.status !== undefined && last.status !== null && ` · answer ${last.status}`
      }${delivery.dueAt !== null && html` · ${isWaiting ? "goes" : "next"} ${tryTime(delivery.dueAt, now)}`}</small
    >
    ${said !== null && html`<small><bdi dir="auto">${said}</bdi></small>`}
    ${
      action !== null &&
      delivery.state !== "sending" &&
      !isUntried &&
      kind !== REPLY_KIND &&
      html`<form method="post" action="${action}">
        <input type="hidden" name="delivery" value="${delivery.id}" /><button>Send again</button>
      </form>`
    }
  </li>`;
}
