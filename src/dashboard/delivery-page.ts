import { FormsvcError } from "../foundation/errors.ts";
import { html, type Html } from "../foundation/html.ts";
import type { Attempt, Delivery } from "../outbox/delivery.ts";
import { replayOf } from "../outbox/channel-deliveries.ts";
import { listAttempts } from "../outbox/delivery-store.ts";
import { getViewableDelivery, getViewableWebhook } from "../webhooks/viewable-webhooks.ts";
import { readSubmissions } from "../submissions/submission-store.ts";
import type { Submission } from "../submissions/submission.ts";
import { webhookChannel } from "../webhooks/webhook-deliveries.ts";
import { page, redirect } from "./answer.ts";
import { adviceFor, stateWords } from "./delivery-words.ts";
import { applied, type DashboardParts } from "./parts.ts";
import { titleOf } from "./preview.ts";
import type { Routes, Visit } from "./routes.ts";
import { dueTime, time } from "./time.ts";
import { crumbs, pathOf } from "./webhook-view.ts";

/** Most messages that one form sends again by name. */
const MAX_CHOSEN = 100;
/** Attempts that are shown: the last ones. */
const MAX_SHOWN = 50;

/** One message with its attempts, and sending again: one, some, or all that were given up. */
export function deliveryPages(routes: Routes, parts: DashboardParts): void {
  const { db } = parts;

  routes.read("/webhooks/:id/deliveries/:delivery", async ({ viewer, params }) => {
    const { id = "", delivery: deliveryId = "" } = params;
    const { delivery } = await db.read(() => getViewableDelivery(viewer, id, deliveryId));
    const [attempts, [submission]] = await db.read(function* () {
      return [yield* listAttempts(deliveryId), yield* readSubmissions([delivery.submissionId])] as const;
    });
    return page("Message", deliveryView(delivery, attempts, submission));
  });

  routes.write("/webhooks/:id/deliveries/:delivery/replay", async ({ viewer, params, form, now }) => {
    const { id = "", delivery: deliveryId = "" } = params;
    await db.read(() => getViewableDelivery(viewer, id, deliveryId));
    const asked = { what: deliveryId, asNew: form.has("as_new"), dryRun: false, actor: viewer, now };
    const { id: sent = deliveryId } = await applied(parts, () => replayOf(webhookChannel, db, asked));
    return redirect(`${pathOf(id)}/deliveries/${sent}`, "sent-again", 1);
  });

  routes.write("/webhooks/:id/replay", async (visit) => {
    const { viewer, params, form } = visit;
    const { webhook } = await db.read(() => getViewableWebhook(viewer, params["id"] ?? ""));
    const count = await applied(parts, () =>
      form.get("which") === "failed" ? replayFailed(visit, webhook.id) : replayChosen(visit, webhook.id),
    );
    return redirect(pathOf(webhook.id), "sent-again", count);
  });

  async function replayFailed({ viewer, now }: Visit, webhookId: string): Promise<number> {
    const range = { recipientId: webhookId, failedOnly: true, since: null, until: null };
    return (
      await replayOf(webhookChannel, db, { what: range, asNew: false, dryRun: false, actor: viewer, now })
    ).replayed;
  }

  async function replayChosen({ viewer, form, now }: Visit, webhookId: string): Promise<number> {
    const chosen = [...new Set(form.getAll("id"))].slice(0, MAX_CHOSEN);
    // All of them first, so that nothing is sent if one belongs to somebody else.
    for (const id of chosen) await db.read(() => getViewableDelivery(viewer, webhookId, id));
    let sent = 0;
    for (const what of chosen) {
      try {
        await replayOf(webhookChannel, db, { what, asNew: false, dryRun: false, actor: viewer, now });
        sent += 1;
      } catch (error) {
        // It is being sent right now.
        if (!(error instanceof FormsvcError) || error.code !== "conflict") throw error;
      }
    }
    return sent;
  }
}

function deliveryView(
  delivery: Delivery,
  attempts: readonly Attempt[],
  submission: Submission | undefined,
): Html {
  const { id, recipientId, submissionId, state, dueAt } = delivery;
  const { label, tone } = stateWords(state);
  const path = `${pathOf(recipientId)}/deliveries/${id}/replay`;
  const isOver = state === "delivered" || state === "failed";
  return html`${crumbs(recipientId)}
    <div class="head">
      <h1>Message</h1>
      <span class="pill ${tone}">${label}</span>
      <div class="actions">
        <form method="post" action="${path}"><button class="primary">Send again</button></form>
        ${
          isOver &&
          html`<form method="post" action="${path}">
            <button name="as_new" value="on">Send as a new message</button>
          </form>`
        }
      </div>
    </div>
    ${
      isOver &&
      html`<p class="hint">
        A receiver that remembers what it got ignores a message that it has. As a new message it acts on it once more.
      </p>`
    }
    <section class="card">
      <dl class="facts">
        <div>
          <dt>Submission</dt>
          <dd>
            <a href="/dashboard/submissions/${submissionId}"><bdi>${submission === undefined ? submissionId : titleOf(submission.data)}</bdi></a>
          </dd>
        </div>
        <div>
          <dt>Its number, which the receiver gets as <code>webhook-id</code></dt>
          <dd class="mono">${id}</dd>
        </div>
        ${dueAt !== null && html`<div><dt>Next attempt</dt><dd>${dueTime(dueAt)}</dd></div>`}
      </dl>
    </section>
    ${attemptsCard(attempts)}`;
}

function attemptsCard(attempts: readonly Attempt[]): Html {
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
            ${shown.toReversed().map(attemptView)}
          </ol>`
    }
  </section>`;
}

function attemptView({
  number,
  startedAt,
  durationMs,
  outcome,
  status,
  message,
  answer,
  isProbe,
}: Attempt): Html {
  const isGood = outcome === "delivered";
  const advice = isGood ? null : adviceFor({ outcome, status });
  return html`<li>
    <span><b>${isProbe ? `Attempt ${number}, a trial` : `Attempt ${number}`}</b> ${time(startedAt)}</span>
    <span class="pill ${isGood ? "done" : "high"}">${status ?? (isGood ? "delivered" : "no answer")}</span>
    <small>after ${durationMs} ms${message !== null && html` · <bdi dir="auto">${message}</bdi>`}</small>
    ${advice !== null && html`<small>${advice}</small>`}
    ${answer !== null && html`<small><span>It answered:</span><pre tabindex="0" dir="auto">${answer}</pre></small>`}
  </li>`;
}
