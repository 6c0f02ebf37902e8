import { html, type Html } from "../foundation/html.ts";
import type { RecipientQueue } from "../outbox/count-deliveries.ts";
import { DELIVERY_STATES, type Attempt, type Delivery, type DeliveryState } from "../outbox/delivery.ts";
import type { TestResult } from "../webhooks/send-test.ts";
import type { OwnedWebhook } from "../webhooks/viewable-webhooks.ts";
import { adviceFor, attemptWords, stateWords } from "./delivery-words.ts";
import { dueTime, time } from "./time.ts";
import { healthOf, healthPill, queueSentence } from "./webhook-words.ts";

/** A message with the last of its attempts that has ended; null before the first. */
export interface DeliveryRow {
  readonly delivery: Delivery;
  readonly last: Attempt | null;
  /** What its submission is called; null if that was not read. */
  readonly title: string | null;
}

export interface DeliveryList {
  readonly rows: readonly DeliveryRow[];
  /** Null is all. */
  readonly state: DeliveryState | null;
  readonly nextCursor: string | null;
}

export interface WebhookView extends OwnedWebhook {
  readonly queue: RecipientQueue;
  readonly list: DeliveryList;
  /** Of a test that was just sent; null if none was. */
  readonly tested: TestResult | null;
  /** Why nothing would be sent to the address; null if it is allowed. */
  readonly refused: string | null;
}

export function webhookView(view: WebhookView): Html {
  const { webhook, queue, tested, refused } = view;
  const { host } = new URL(webhook.settings.url);
  const health = healthOf(webhook);
  const path = pathOf(webhook.id);
  const isOn = webhook.state === "enabled";
  return html`<p class="crumbs"><a href="/dashboard/webhooks">← Webhooks</a></p>
    <div class="head">
      <h1>${host}</h1>
      ${healthPill(health)}
      <div class="actions">
        <form method="post" action="${path}/test"><button class="primary">Send a test</button></form>
        <form method="post" action="${path}/${isOn ? "disable" : "enable"}">
          <button>${isOn ? "Pause sending" : "Start sending"}</button>
        </form>
        <a class="button" href="${path}/edit">Change</a>
      </div>
    </div>
    ${refused !== null && html`<p class="notice bad" role="alert">${refused}</p>`}
    ${tested !== null && testedView(tested)}
    <div class="two">
      <div>${deliveriesCard(view)}</div>
      <div>
        <section class="card">
          <header><h2>Health</h2></header>
          <div class="body">
            <p>${health.sentence}</p>
            <p>${queueSentence(queue)}</p>
            ${queue.failed > 0 && replayFailed(path)}
          </div>
        </section>
        ${settingsCard(view)}
      </div>
    </div>`;
}

function replayFailed(path: string): Html {
  return html`<form method="post" action="${path}/replay">
    <button name="which" value="failed">Send all that were given up again</button>
  </form>`;
}

function testedView({ outcome, status, message, durationMs }: TestResult): Html {
  const isGood = outcome === "delivered";
  const advice = adviceFor({ outcome, status });
  return html`<div class="notice ${isGood ? "" : "bad"}" role="${isGood ? "status" : "alert"}">
    <b>${isGood ? "The test was delivered" : "The test was not delivered"}</b> after ${durationMs} ms.
    <bdi dir="auto">${message}</bdi>${advice !== null && html` ${advice}`}
  </div>`;
}

function settingsCard({ webhook, endpoint }: OwnedWebhook): Html {
  const { id, settings, headers, createdAt } = webhook;
  const path = pathOf(id);
  return html`<section class="card">
    <header><h2>Settings</h2></header>
    <dl class="facts">
      <div>
        <dt>Address</dt>
        <dd class="mono">${settings.url}</dd>
      </div>
      <div>
        <dt>Endpoint</dt>
        <dd><a href="/dashboard/endpoints/${endpoint.id}"><bdi>${endpoint.name}</bdi></a></dd>
      </div>
      <div>
        <dt>Own headers</dt>
        <dd>${headers.size === 0 ? "none" : [...headers.keys()].join(", ")}</dd>
      </div>
      <div>
        <dt>Spam score</dt>
        <dd>${settings.maxSpamScore === 100 ? "sends all" : `sends up to ${settings.maxSpamScore}`}</dd>
      </div>
      <div>
        <dt>Private addresses</dt>
        <dd>${settings.allowPrivate ? "allowed" : "refused"}</dd>
      </div>
      <div>
        <dt>Added</dt>
        <dd>${time(createdAt)}</dd>
      </div>
    </dl>
    <div class="body actions">
      ${settings.format === "standard" && html`<a class="button" href="${path}/rotate-secret">New secret</a>`}
      <a class="button danger" href="${path}/delete">Delete</a>
    </div>
  </section>`;
}

function deliveriesCard({ webhook, list }: WebhookView): Html {
  const path = pathOf(webhook.id);
  const { rows, state, nextCursor } = list;
  return html`<section class="card" aria-labelledby="messages">
    <header><h2 id="messages">Messages</h2></header>
    <nav class="bar" aria-label="Which messages">
      ${chip(path, "All", null, state)} ${DELIVERY_STATES.map((each) => chip(path, stateWords(each).label, each, state))}
    </nav>
    ${rows.length === 0 ? html`<p class="empty">${noMessages(list)}</p>` : deliveryTable(path, rows)}
    ${
      nextCursor !== null &&
      html`<div class="pages">
        <span></span><a href="${path}?${state === null ? "" : `state=${state}&`}cursor=${nextCursor}">Older messages</a>
      </div>`
    }
  </section>`;
}

function chip(path: string, label: string, value: DeliveryState | null, chosen: DeliveryState | null): Html {
  const to = value === null ? path : `${path}?state=${value}`;
  return html`<a class="chip" href="${to}" ${value === chosen && html` aria-current="true"`}>${label}</a> `;
}

function noMessages({ state, nextCursor }: DeliveryList): string {
  if (nextCursor !== null) return "None of the newest messages is in this state.";
  return state === null ? "No messages yet." : "No messages in this state.";
}

function deliveryTable(path: string, rows: readonly DeliveryRow[]): Html {
  return html`<form method="post" action="${path}/replay">
    <div class="scroll wide" tabindex="0" role="region" aria-label="Table of messages">
      <table class="messages">
        <colgroup>
          <col class="c-pick" />
          <col />
          <col class="c-state" />
          <col class="c-last" />
        </colgroup>
        <thead>
          <tr>
            <th scope="col" class="pick"><span class="hidden-text">Chosen</span><input type="checkbox" data-select-all aria-label="Choose all" /></th>
            <th scope="col">Submission of</th>
            <th scope="col">Message</th>
            <th scope="col">Last attempt</th>
          </tr>
        </thead>
        <tbody data-rows>
          ${rows.map((row) => deliveryRow(path, row))}
        </tbody>
      </table>
    </div>
    <div class="bar"><button name="which" value="chosen">Send the chosen again</button></div>
  </form>`;
}

function deliveryRow(path: string, { delivery, last, title }: DeliveryRow): Html {
  const { id, submissionId, state, attempts, dueAt } = delivery;
  const { label, tone } = stateWords(state);
  const called = title ?? `…${submissionId.slice(-6)}`;
  return html`<tr>
    <td class="pick"><input type="checkbox" name="id" value="${id}" aria-label="Choose the message about ${called}" /></td>
    <td><a href="/dashboard/submissions/${submissionId}"><bdi class="said">${called}</bdi></a></td>
    <td>
      <span class="pill ${tone}">${label}</span> <a href="${path}/deliveries/${id}">${attemptWords(attempts)}</a>
    </td>
    <td>
      ${last === null ? html`<span class="muted">—</span>` : lastAttempt(last)}${
        dueAt !== null && attempts > 0 && html`<small>next ${dueTime(dueAt)}</small>`
      }
    </td>
  </tr>`;
}

function lastAttempt({ startedAt, message, status }: Attempt): Html {
  const said = message ?? (status === null ? "" : `Answered ${status}.`);
  return html`<bdi class="said" dir="auto">${said.slice(0, 160)}</bdi><small>${time(startedAt)}</small>`;
}

/** A secret, once. @param use what it is for, a sentence. */
export function secretBox(secret: string, use: string): Html {
  return html`<section class="once" aria-labelledby="secret">
    <h2 id="secret">The secret of this webhook</h2>
    <p>It is shown this once: copy it now. ${use} If you lose it, make a new one.</p>
    <div class="secret"><code>${secret}</code> <button type="button" data-copy>Copy</button></div>
  </section>`;
}

export function pathOf(webhookId: string): string {
  return `/dashboard/webhooks/${webhookId}`;
}

/** Back to the webhook. */
export function crumbs(webhookId: string): Html {
  return html`<p class="crumbs"><a href="${pathOf(webhookId)}">← The webhook</a></p>`;
}
