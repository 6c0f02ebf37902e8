import type { z } from "zod";
import { html, type Html } from "../../foundation/html.ts";
import { stateOf } from "../../mail/recipients/mail-recipient-state.ts";
import type { testMailShape } from "../../mail/health/test-mail-json.ts";
import { MAIL_KIND, type MailRecipient } from "../../mail/recipients/mail-recipient.ts";
import type { Owned } from "../../recipients/reach-recipient.ts";
import type { RecipientQueue } from "../../outbox/queue/count-deliveries.ts";
import type { DestinationFault } from "../../outbox/sending/destinations.ts";
import type { Attempt } from "../../outbox/queue/delivery.ts";
import { MAX_SPAM_SCORE } from "../../outbox/queue/recipient.ts";
import { recipientPath } from "./recipient-paths.ts";
import type { ConditionFields } from "./condition-fields.ts";
import { conditionsSentence } from "./condition-words.ts";
import { deliveriesCard, type DeliveryList } from "./deliveries-card.ts";
import { healthCard, healthPill } from "./health.ts";
import { digestLabel, questionAdvice, recipientHealth, testAdvice } from "./recipient-words.ts";
import { time } from "../kit/time.ts";

/** The result of a test e-mail. */
export type MailTest = z.output<typeof testMailShape>;

interface RecipientView extends Owned<MailRecipient> {
  /** The fields of the form. */
  readonly fields: ConditionFields;
  readonly queue: RecipientQueue;
  /** The fault of the mail server; null if it works. */
  readonly fault: DestinationFault | null;
  readonly list: DeliveryList;
  /** Why the holder cannot be asked; null if they can. */
  readonly missing: string | null;
  /** Whether a test e-mail may be sent. */
  readonly canTest: boolean;
  /** The result of the test that was just run; null if none was. */
  readonly tested: MailTest | null;
  /** The last attempt to ask the holder; null if it is not known, or the holder agreed. */
  readonly question: Attempt | null;
}

export function recipientView(view: RecipientView): Html {
  const { recipient, queue, list, missing, canTest, tested, question } = view;
  const health = recipientHealth(recipient, view.fault);
  const path = recipientPath(MAIL_KIND, recipient.id);
  return html`<p class="crumbs"><a href="/dashboard/notifications">← Notifications</a></p>
    <div class="head">
      <h1>${recipient.settings.address}</h1>
      ${healthPill(health)}
      <div class="actions">
        ${mainAction(view, path)}${canTest && testButton(path)}<a class="button" href="${path}/edit">Change</a>
      </div>
    </div>
    ${missing !== null && html`<p class="notice bad">${missing}</p>`}
    ${tested !== null && testedView(tested)} ${question !== null && questionView(question)}
    <div class="two">
      <div>${deliveriesCard(path, list)}</div>
      <div>${healthCard(path, health, queue, list.now)} ${settingsCard(view, path)}</div>
    </div>`;
}

function testButton(path: string): Html {
  return html`<form method="post" action="${path}/test"><button>Send a test e-mail</button></form>`;
}

function testedView(tested: MailTest): Html {
  const { outcome, message, duration_ms: durationMs } = tested;
  const isSent = outcome === "delivered";
  const title =
    isSent || outcome === "unsure" ? html`The test e-mail was sent` : html`The test e-mail was not sent`;
  return html`<div class="notice ${isSent ? "" : "bad"}" role="${isSent ? "status" : "alert"}">
    <b>${title}</b> after ${durationMs} ms. <bdi dir="auto">${message}</bdi> ${testAdvice(outcome)}
  </div>`;
}

/** Null if the mail server has accepted the letter: then it is up to the holder. */
function questionView({ outcome, message }: Attempt): Html | null {
  if (outcome === "delivered") return null;
  return html`<div class="notice bad" role="alert">
    <b>${outcome === "unsure" ? "Nobody knows whether the e-mail that asks has arrived." : "The e-mail that asks was not sent."}</b> <bdi dir="auto">${message}</bdi> ${questionAdvice(outcome)}
  </div>`;
}

/** The most useful action for the recipient's state. Only the holder of an address can undo that they unsubscribed. */
function mainAction({ recipient }: RecipientView, path: string): Html | null {
  const state = stateOf(recipient);
  if (state === "unsubscribed") return null;
  if (state === "enabled")
    return html`<form method="post" action="${path}/disable"><button>Pause sending</button></form>`;
  const [verb, label] =
    state === "unconfirmed" ? ["ask", "Send the question again"] : ["enable", "Start sending"];
  return html`<form method="post" action="${path}/${verb}"><button class="primary">${label}</button></form>`;
}

function settingsCard({ recipient, endpoint, fields }: RecipientView, path: string): Html {
  const { settings, confirmedAt, createdAt } = recipient;
  const { attach, maxSpamScore, subject } = settings;
  return html`<section class="card">
    <header><h2>Settings</h2></header>
    <dl class="facts">
      <div>
        <dt>Form</dt>
        <dd><a href="/dashboard/endpoints/${endpoint.id}"><bdi>${endpoint.name}</bdi></a></dd>
      </div>
      <div>
        <dt>How often</dt>
        <dd>${digestLabel(settings.digest)}</dd>
      </div>
      <div>
        <dt>Subject</dt>
        <dd>${subject === null ? "the usual one" : html`<bdi dir="auto">${subject}</bdi>`}</dd>
      </div>
      <div>
        <dt>Files</dt>
        <dd>${attach ? "attached, under 5 MB in all" : "named, with a link"}</dd>
      </div>
      <div>
        <dt>Spam score</dt>
        <dd>${maxSpamScore === MAX_SPAM_SCORE ? "sends all" : `sends up to ${maxSpamScore}`}</dd>
      </div>
      <div>
        <dt>Which posts</dt>
        <dd>${conditionsSentence(settings.conditions, fields) ?? "all"}</dd>
      </div>
      <div>
        <dt>Added</dt>
        <dd>${time(createdAt)}</dd>
      </div>
      ${confirmedAt !== null && confirmedAt !== createdAt && html`<div><dt>Agreed</dt><dd>${time(confirmedAt)}</dd></div>`}
    </dl>
    <div class="body actions"><a class="button danger" href="${path}/delete">Delete</a></div>
  </section>`;
}
