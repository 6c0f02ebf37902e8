import { html, type Html } from "../foundation/html.ts";
import { jsonText, plainLines, plainText } from "../foundation/plain-text.ts";
import { CLASS_SCORES } from "../spam/spam-verdict.ts";
import { submissionJson } from "../submissions/submission-json.ts";
import type { Submission } from "../submissions/submission.ts";
import { adviceFor, stateWords } from "./delivery-words.ts";
import { addressOf, type InboxFilter } from "./inbox-filter.ts";
import { titleOf } from "./preview.ts";
import { markPill, scorePill } from "./score-view.ts";
import { browserOf, mailLink, replyAddressOf } from "./sender-facts.ts";
import type { SentMessage, WholeSubmission } from "./read-submission.ts";
import { time } from "./time.ts";

/** Fields with a line of their own; a stranger's post may have thousands. */
const MAX_FIELDS = 200;
/** Characters of a reason that are shown. */
const MAX_REASON_LENGTH = 300;

interface SubmissionViewParts extends WholeSubmission {
  readonly shown: InboxFilter;
  /** Ids of the neighbours in the list. */
  readonly newer: string | null;
  readonly older: string | null;
}

export function submissionView(parts: SubmissionViewParts): Html {
  const { submission, mark } = parts;
  return html`${turnLinks(parts)}
    <div class="head">
      <h1><bdi>${titleOf(submission.data)}</bdi></h1>
      ${scorePill(submission)} ${mark !== null && markPill(mark)} ${actions(parts)}
    </div>
    <div class="two">
      <div class="stack">${fieldsCard(parts)} ${senderCard(submission)} ${jsonCard(submission)}</div>
      <div class="stack">${scoreCard(submission)} ${messagesCard(parts)}</div>
    </div>`;
}

function turnLinks({ shown, newer, older }: SubmissionViewParts): Html {
  const link = (id: string | null, words: string, key: string): Html | false =>
    id !== null &&
    html`<a href="${addressOf(shown, `/submissions/${id}`)}" data-key="${key}">${words} <kbd>${key}</kbd></a>`;
  return html`<nav class="crumbs" aria-label="In the inbox">
    <a href="${addressOf(shown)}">← Inbox</a>
    <span class="turn">${link(newer, "Newer", "k")}${link(older, "Older", "j")}</span>
  </nav>`;
}

function actions({ submission, endpoint, mark, shown }: SubmissionViewParts): Html {
  const { id, data } = submission;
  const address = replyAddressOf(data);
  return html`<form class="actions" method="post" action="${addressOf(shown, "/bulk", { on: id })}">
    <input type="hidden" name="id" value="${id}" />
    ${
      address !== null &&
      html`<a class="button primary" href="${mailLink(address, `Re: ${endpoint.name}`)}">Reply by mail</a>`
    }
    ${mark !== "ham" && html`<button name="do" value="ham" data-key="h">Not spam <kbd>h</kbd></button>`}
    ${mark !== "spam" && html`<button name="do" value="spam" data-key="s">Spam <kbd>s</kbd></button>`}
    ${mark !== null && html`<button name="do" value="none">Remove the mark</button>`}
    <button name="do" value="unread" data-key="u">Mark unread <kbd>u</kbd></button>
    <button type="button" data-copy="json">Copy as JSON</button>
    <button name="do" value="delete" class="danger">Delete</button>
  </form>`;
}

/** In the order of the form, then what was sent besides. */
function fieldsCard({ submission, endpoint, definition }: SubmissionViewParts): Html {
  const { data, createdAt } = submission;
  const declared = Object.keys(definition).filter((name) => Object.hasOwn(data, name));
  const others = Object.keys(data).filter((name) => !Object.hasOwn(definition, name));
  const names = [...declared, ...others];
  const left = names.length - MAX_FIELDS;
  return html`<section class="card">
    <header>
      <h2><bdi>${endpoint.name}</bdi></h2>
      <span class="muted">${time(createdAt)}</span>
    </header>
    <dl>
      ${names.slice(0, MAX_FIELDS).map((name) => fact(plainText(name), valueView(data[name])))}
    </dl>
    ${left > 0 && html`<p class="muted">${left} more fields are in the JSON below.</p>`}
    ${names.length === 0 && html`<p class="empty">Nothing was filled in.</p>`}
  </section>`;
}

function fact(name: string, value: Html): Html {
  return html`<div>
    <dt><bdi>${name}</bdi></dt>
    <dd dir="auto">${value}</dd>
  </div>`;
}

function valueView(value: unknown): Html {
  if (value === null || value === undefined || value === "") return html`<span class="muted">empty</span>`;
  if (typeof value === "boolean") return html`${value ? "yes" : "no"}`;
  if (Array.isArray(value) && value.every((each) => typeof each === "string"))
    return html`${plainLines(value.join("\n"))}`;
  return html`${typeof value === "string" ? plainLines(value) : prettyJson(value)}`;
}

function senderCard({ id, ipAddress, userAgent }: Submission): Html {
  const browser = browserOf(userAgent);
  return html`<section class="card">
    <header><h2>Where it came from</h2></header>
    <dl>
      ${fact("Address", ipAddress === "" ? html`<span class="muted">not kept</span>` : html`${plainText(ipAddress)}`)}
      ${fact("Browser", browser === null ? html`<span class="muted">not told</span>` : html`${browser}`)}
      <div>
        <dt>Number</dt>
        <dd class="mono">${id}</dd>
      </div>
    </dl>
  </section>`;
}

function jsonCard(submission: Submission): Html {
  return html`<details class="card">
    <summary>As JSON</summary>
    <pre id="json" tabindex="0">${prettyJson(submissionJson(submission))}</pre>
  </details>`;
}

/** The reasons add up to the score, as on a bill. */
function scoreCard({ spamScore, spamReasons }: Submission): Html {
  const firstHeld = CLASS_SCORES.blocked[0];
  return html`<section class="card">
    <header><h2>Why ${spamScore}?</h2></header>
    <ul class="sum">
      ${spamReasons.length === 0 && html`<li><span>0</span><span>nothing looks like spam</span></li>`}
      ${spamReasons.map(({ points, field, detail }) => {
        const words = plainText(detail).slice(0, MAX_REASON_LENGTH).toWellFormed();
        const where =
          field === null
            ? null
            : html` <span class="muted">in <bdi>${plainText(field).slice(0, 100)}</bdi></span>`;
        return html`<li>
          <span class="${points > 0 ? "plus" : "minus"}">${points > 0 ? `+${points}` : `−${-points}`}</span>
          <span><bdi>${words}</bdi>${where}</span>
        </li>`;
      })}
      <li class="total"><span>${spamScore}</span><span>of 100; from ${firstHeld} on a post is held</span></li>
    </ul>
  </section>`;
}

function messagesCard({ submission, messages, shown }: SubmissionViewParts): Html {
  return html`<section class="card">
    <header><h2>Sent on</h2></header>
    ${
      messages.length === 0
        ? html`<p class="muted">To nobody: no webhook of this form wanted it.</p>`
        : html`<ul class="way">
            ${messages.map((message) => messageView(message, addressOf(shown, `/submissions/${submission.id}/replay`)))}
          </ul>`
    }
  </section>`;
}

function messageView({ delivery, recipient, attempts }: SentMessage, action: string): Html {
  const { label, tone } = stateWords(delivery.state);
  const last = attempts.at(-1);
  const advice = last === undefined || last.outcome === "delivered" ? null : adviceFor(last);
  return html`<li>
    <a href="/dashboard/webhooks/${delivery.recipientId}/deliveries/${delivery.id}">${recipient}</a>
    <span class="pill ${tone}">${label}</span>
    <small
      >${attemptWords(attempts.length)}${last !== undefined && html`, the last ${time(last.startedAt)}`}${
        last?.status !== undefined && last.status !== null && ` · answer ${last.status}`
      }${delivery.dueAt !== null && html` · next ${time(delivery.dueAt)}`}</small
    >
    ${advice !== null && html`<small>${advice}</small>`}
    ${
      delivery.state !== "sending" &&
      html`<form method="post" action="${action}">
        <input type="hidden" name="delivery" value="${delivery.id}" /><button>Send again</button>
      </form>`
    }
  </li>`;
}

function attemptWords(count: number): string {
  if (count === 0) return "no attempt yet";
  return count === 1 ? "1 attempt" : `${count} attempts`;
}

/** Levels that are indented: each line of a post that nests a thousand deep would begin with thousands of blanks. */
const MAX_INDENTED_DEPTH = 6;

function prettyJson(value: unknown): string {
  return jsonText(value, isDeeperThan(MAX_INDENTED_DEPTH, value) ? undefined : 2);
}

function isDeeperThan(depth: number, value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return depth === 0 || Object.values(value).some((member) => isDeeperThan(depth - 1, member));
}
