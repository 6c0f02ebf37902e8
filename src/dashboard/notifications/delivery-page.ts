import type { Steps } from "../../database/steps.ts";
import type { Endpoint } from "../../endpoints/endpoint.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { html, type Html } from "../../foundation/html.ts";
import { replayMail } from "../../mail/mail-deliveries.ts";
import { REPLIES } from "../../mail/auto-reply/auto-reply-store.ts";
import { MAIL_KIND } from "../../mail/recipients/mail-recipient.ts";
import { MAIL_RECIPIENTS } from "../../mail/recipients/mail-recipient-store.ts";
import { viewRecipient } from "../../recipients/reach-recipient.ts";
import { getDeliveryTo } from "../../outbox/queue/shown-deliveries.ts";
import { type Attempt, type Delivery, isGathered } from "../../outbox/queue/delivery.ts";
import { leadOf, listAttempts } from "../../outbox/queue/delivery-store.ts";
import { hideNetwork } from "../../webhooks/hide-network.ts";
import { REPLY_KIND } from "../../outbox/queue/recipient.ts";
import type { Viewer } from "../../sessions/session.ts";
import { readSubmissions } from "../../submissions/stored/submission-store.ts";
import type { Submission } from "../../submissions/stored/submission.ts";
import { WEBHOOKS } from "../../webhooks/webhook-store.ts";
import { replayWebhook } from "../../webhooks/webhook-deliveries.ts";
import { WEBHOOK_KIND } from "../../webhooks/webhook.ts";
import { page, redirect } from "../answer.ts";
import { recipientPath } from "./recipient-paths.ts";
import { pathOf } from "../forms/endpoint-frame.ts";
import { adviceFor, deliveryWords, togetherWords } from "./delivery-words.ts";
import type { DashboardParts } from "../parts.ts";
import { contentOf, titleOf } from "../inbox/preview.ts";
import type { Routes, Visit } from "../routes.ts";
import { time, tryTime } from "../kit/time.ts";

/** The largest number of messages that one form can send again by their ids. */
const MAX_CHOSEN = 100;
/** The largest number of attempts that are shown, which are the last ones. */
const MAX_SHOWN = 50;

interface Replayed {
  readonly id?: string | undefined;
  readonly replayed: number;
}

interface Replays {
  readonly one: (visit: Visit, delivery: string, how: { readonly asNew: boolean }) => Promise<Replayed>;
  readonly failed: (visit: Visit, recipientId: string) => Promise<Replayed>;
}

/** How the pages of messages treat the recipients of one kind. */
interface DeliveryPages {
  readonly kind: string;
  /** The operations that send one message again, or all failed messages of a recipient; null if that is not possible. */
  readonly replays: Replays | null;
  /** The folder in the addresses. */
  readonly name: "recipients" | "replies" | "webhooks";
  /** The label of the link to the recipient. */
  readonly back: string;
  /** @throws not_found if the viewer may not see it */
  readonly getRecipient: (viewer: Viewer, id: string) => Steps<{ readonly endpoint: Endpoint }>;
}

const PAGES_BY_KIND: readonly DeliveryPages[] = [
  {
    kind: WEBHOOK_KIND,
    replays: {
      one: ({ perform }, delivery, { asNew: as_new }) => perform(replayWebhook, { delivery, as_new }),
      failed: ({ perform }, webhook) => perform(replayWebhook, { webhook, failed: true }),
    },
    name: "webhooks",
    back: "The webhook",
    getRecipient: (viewer, id) => viewRecipient(viewer, WEBHOOKS, id),
  },
  {
    kind: MAIL_KIND,
    replays: {
      one: ({ perform }, delivery, { asNew: as_new }) => perform(replayMail, { delivery, as_new }),
      failed: ({ perform }, recipient) => perform(replayMail, { recipient, failed: true }),
    },
    name: "recipients",
    back: "The recipient",
    getRecipient: (viewer, id) => viewRecipient(viewer, MAIL_RECIPIENTS, id),
  },
  {
    kind: REPLY_KIND,
    replays: null,
    name: "replies",
    back: "The automatic reply",
    getRecipient: (viewer, id) => viewRecipient(viewer, REPLIES, id),
  },
];

/** Shows a message with its attempts, and sends messages again: one, some, or all that were given up. */
export function deliveryPages(routes: Routes, parts: DashboardParts): void {
  for (const pages of PAGES_BY_KIND) {
    messagePage(routes, parts, pages);
    if (pages.replays !== null) replayPages(routes, parts, { ...pages, replays: pages.replays });
  }
}

function* getOwned(
  { getRecipient }: DeliveryPages,
  viewer: Viewer,
  recipientId: string,
  id: string,
): Steps<Delivery> {
  yield* getRecipient(viewer, recipientId);
  return yield* getDeliveryTo(recipientId, id);
}

function messagePage(routes: Routes, { db }: DashboardParts, pages: DeliveryPages): void {
  routes.read(`/${pages.name}/:id/deliveries/:delivery`, async ({ viewer, params, now }) => {
    const { id = "", delivery: deliveryId = "" } = params;
    const shown = await db.read(function* () {
      const { endpoint } = yield* pages.getRecipient(viewer, id);
      const delivery = yield* getDeliveryTo(id, deliveryId);
      const attempts = (yield* listAttempts(leadOf(delivery))).map((attempt) =>
        hideNetwork(attempt, viewer.isOperator),
      );
      const [submission] = yield* readSubmissions([delivery.submissionId]);
      return { delivery, attempts, submission, endpoint, now };
    });
    return page("Message", deliveryView(pages, shown));
  });
}

type ReplayedSection = DeliveryPages & { readonly replays: Replays };

function replayPages(routes: Routes, parts: DashboardParts, pages: ReplayedSection): void {
  const { db } = parts;
  const { kind, replays, name, getRecipient } = pages;

  routes.write(`/${name}/:id/deliveries/:delivery/replay`, async (visit) => {
    const { viewer, params, form } = visit;
    const { id = "", delivery: deliveryId = "" } = params;
    await db.read(() => getOwned(pages, viewer, id, deliveryId));
    const { id: sent = deliveryId } = await replays.one(visit, deliveryId, { asNew: form.has("as_new") });
    return redirect(`${recipientPath(kind, id)}/deliveries/${sent}`, "sent-again", 1);
  });

  routes.write(`/${name}/:id/replay`, async (visit) => {
    const { viewer, params, form } = visit;
    const { id = "" } = params;
    await db.read(() => getRecipient(viewer, id));
    const isFailed = form.get("which") === "failed";
    const count = isFailed ? (await replays.failed(visit, id)).replayed : await replayChosen(visit, id);
    return redirect(recipientPath(kind, id), "sent-again", count);
  });

  async function replayChosen(visit: Visit, recipientId: string): Promise<number> {
    const { viewer, form } = visit;
    const chosen = [...new Set(form.getAll("id"))].slice(0, MAX_CHOSEN);
    // All ids are checked first, so that nothing is sent if one belongs to somebody else.
    for (const id of chosen) await db.read(() => getOwned(pages, viewer, recipientId, id));
    let sent = 0;
    for (const what of chosen) {
      try {
        await replays.one(visit, what, { asNew: false });
        sent += 1;
      } catch (error) {
        // A conflict means that the message is being sent right now.
        if (!(error instanceof FormsvcError) || error.code !== "conflict") throw error;
      }
    }
    return sent;
  }
}

interface ShownDelivery {
  readonly delivery: Delivery;
  readonly attempts: readonly Attempt[];
  readonly submission: Submission | undefined;
  readonly endpoint: Endpoint;
  readonly now: number;
}

function deliveryView({ kind, replays, back }: DeliveryPages, shown: ShownDelivery): Html {
  const { delivery, attempts, submission, endpoint, now } = shown;
  const { id, recipientId, submissionId, state, dueAt, others } = delivery;
  const { label, tone } = deliveryWords(delivery, now);
  const isWaiting = isGathered(delivery, now);
  const recipient = recipientPath(kind, recipientId);
  const from = kind === REPLY_KIND ? pathOf(endpoint, "/reply") : recipient;
  const path = `${recipient}/deliveries/${id}/replay`;
  const words = WORDS[kind === WEBHOOK_KIND ? "webhook" : "mail"];
  const mayReplay = replays !== null && !isWaiting;
  const isOver = replays !== null && (state === "delivered" || state === "failed");
  return html`<p class="crumbs"><a href="${from}">← ${back}</a></p>
    <div class="head">
      <h1>Message</h1>
      <span class="pill ${tone}">${label}</span>
      <div class="actions">
        ${mayReplay && html`<form method="post" action="${path}"><button class="primary">Send again</button></form>`}
        ${
          isOver &&
          html`<form method="post" action="${path}">
            <button name="as_new" value="on">Send as a new message</button>
          </form>`
        }
      </div>
    </div>
    ${isOver && html`<p class="hint">${words.asNew}</p>`}
    ${isWaiting && html`<p class="hint">${GATHERED}</p>`}
    <section class="card">
      <dl class="facts">
        <div>
          <dt>Submission</dt>
          <dd>
            <a href="/dashboard/submissions/${submissionId}"><bdi>${submission === undefined ? submissionId : titleOf(contentOf(submission))}</bdi></a>
          </dd>
        </div>
        <div>
          <dt>Its number, which ${words.has} as <code>${words.header}</code></dt>
          <dd class="mono">${leadOf(delivery)}</dd>
        </div>
        ${others > 0 && html`<div><dt>Sent</dt><dd>${togetherWords(others)}; all of them are sent again together</dd></div>`}
        ${dueAt !== null && html`<div><dt>${isWaiting ? "Goes with others" : "Next attempt"}</dt><dd>${tryTime(dueAt, now)}</dd></div>`}
      </dl>
    </section>
    ${attemptsCard(kind, attempts, delivery.state === "failed")}`;
}

const GATHERED =
  "It is gathered with others, which go in one e-mail: because this recipient wants it so, or because many came within a short time.";

/** The texts about messages to recipients of each kind. */
const WORDS = {
  webhook: {
    has: "the receiver gets",
    header: "webhook-id",
    asNew:
      "A receiver that remembers what it got ignores a message that it has. As a new message it acts on it once more.",
  },
  mail: {
    has: "the e-mail has",
    header: "Message-ID",
    asNew: "A mail program that has an e-mail may hide its double. As a new message it is shown once more.",
  },
} as const;

/** @param isGivenUp whether no further attempt follows */
function attemptsCard(kind: string, attempts: readonly Attempt[], isGivenUp: boolean): Html {
  const last = isGivenUp ? attempts.at(-1) : undefined;
  const shown = attempts.slice(-MAX_SHOWN);
  const left = attempts.length - shown.length;
  return html`<section class="card">
    <header>
      <h2>Attempts</h2>
      ${left > 0 && html`<span class="muted">${left} earlier ones are left out</span>`}
    </header>
    ${
      shown.length === 0
        ? html`<p class="empty">No attempt has ended yet.</p>`
        : html`<ol class="way">
            ${shown.toReversed().map((attempt) => attemptView(kind, attempt, attempt === last))}
          </ol>`
    }
  </section>`;
}

function attemptView(kind: string, attempt: Attempt, isLast: boolean): Html {
  const { number, startedAt, durationMs, outcome, status, message, answer, isProbe } = attempt;
  const isGood = outcome === "delivered";
  const advice = isGood ? null : adviceFor(kind, attempt, isLast);
  return html`<li>
    <span><b>${isProbe ? `Attempt ${number}, a trial` : `Attempt ${number}`}</b> ${time(startedAt)}</span>
    <span class="pill ${isGood ? "done" : "high"}">${status ?? (isGood ? "delivered" : "no answer")}</span>
    <small>${durationMs > 0 && `after ${durationMs} ms`}${message !== null && html`${durationMs > 0 && " · "}<bdi dir="auto">${message}</bdi>`}</small>
    ${advice !== null && html`<small>${advice}</small>`}
    ${answer !== null && html`<small><span>It answered:</span><pre tabindex="0" dir="auto">${answer}</pre></small>`}
  </li>`;
}
