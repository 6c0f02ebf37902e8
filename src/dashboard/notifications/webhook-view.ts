import type { z } from "zod";
import { html, type Html } from "../../foundation/html.ts";
import type { RecipientQueue } from "../../outbox/queue/count-deliveries.ts";
import type { testResultShape } from "../../webhooks/webhook-json.ts";
import type { Owned } from "../../recipients/reach-recipient.ts";
import type { Webhook } from "../../webhooks/webhook.ts";
import type { ConditionFields } from "./condition-fields.ts";
import { conditionsSentence } from "./condition-words.ts";
import { deliveriesCard, type DeliveryList } from "./deliveries-card.ts";
import { webhookAdvice } from "./delivery-words.ts";
import { healthCard, healthPill } from "./health.ts";
import { time } from "../kit/time.ts";
import { healthOf, privateWords, type WebhookEvidence } from "./webhook-words.ts";

/** The result of a test, as this viewer may see it. */
export type TestOutcome = z.output<typeof testResultShape>;

export interface WebhookView extends Owned<Webhook> {
  /** The fields of the form. */
  readonly fields: ConditionFields;
  readonly queue: RecipientQueue;
  readonly list: DeliveryList;
  /** The result of the test that was just sent; null if none was. */
  readonly tested: TestOutcome | null;
  readonly evidence: WebhookEvidence;
  /** After a test: why nothing would be sent to the address; null if it is allowed. */
  readonly refused: string | null;
  /** `webhooks.allowNetworks` */
  readonly allowNetworks: readonly string[];
}

export function webhookView(view: WebhookView): Html {
  const { recipient: webhook, queue, tested, evidence, refused } = view;
  const { host } = new URL(webhook.settings.url);
  const health = healthOf(webhook, evidence);
  const path = pathOf(webhook.id);
  const isOn = webhook.state === "enabled";
  return html`<p class="crumbs"><a href="/dashboard/notifications">← Notifications</a></p>
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
      <div>${deliveriesCard(path, view.list)}</div>
      <div>
        ${healthCard(path, health, queue, view.list.now)}
        ${settingsCard(view)}
      </div>
    </div>`;
}

function testedView({ outcome, status, message, duration_ms: durationMs }: TestOutcome): Html {
  const isGood = outcome === "delivered";
  const advice = webhookAdvice({ outcome, status });
  return html`<div class="notice ${isGood ? "" : "bad"}" role="${isGood ? "status" : "alert"}">
    <b>${isGood ? "The test was delivered" : "The test was not delivered"}</b>${durationMs > 0 && ` after ${durationMs} ms`}.
    <bdi dir="auto">${message}</bdi>${advice !== null && html` ${advice}`}
  </div>`;
}

function settingsCard({ recipient: webhook, endpoint, fields, allowNetworks }: WebhookView): Html {
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
        <dt>Form</dt>
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
        <dt>Which posts</dt>
        <dd>${conditionsSentence(settings.conditions, fields) ?? "all"}</dd>
      </div>
      <div>
        <dt>Private addresses</dt>
        <dd>${privateWords(settings, allowNetworks)}</dd>
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

/** Shows a secret once. @param use a sentence about what it is for */
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
