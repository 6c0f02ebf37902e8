import { html } from "../../foundation/html.ts";
import { viewRecipient } from "../../recipients/reach-recipient.ts";
import { rotateSecret, setWebhook } from "../../webhooks/webhook-operations.ts";
import { WEBHOOKS } from "../../webhooks/webhook-store.ts";
import type { Webhook } from "../../webhooks/webhook.ts";
import { type Answer, page, redirect } from "../answer.ts";
import { NO_PROBLEMS, type Problems, problemSummary } from "../kit/field.ts";
import { createOnce, onceInput } from "../kit/once.ts";
import type { DashboardParts } from "../parts.ts";
import { Stopped } from "../perform.ts";
import type { Routes, Visit } from "../routes.ts";
import { timeText } from "../kit/time.ts";
import {
  checkChange,
  fingerprintOf,
  readTyped,
  shownChat,
  type TypedWebhook,
  typedFrom,
  webhookFields,
  webhookInput,
} from "./webhook-form.ts";
import { type Edited, readEdited, recipientCrumbs, requireSeen } from "./recipient-acts.ts";
import { pathOf, secretBox } from "./webhook-view.ts";

/** The pages that change a webhook and its secret, below `/dashboard/webhooks/:id`. */
export function webhookChangePages(routes: Routes, parts: DashboardParts): void {
  const once = createOnce((answer) => answer.kind === "page" && answer.status === 201);

  const edited = (visit: Visit): Promise<Edited<Webhook>> => readEdited(parts, visit, WEBHOOKS);

  routes.read("/webhooks/:id/edit", async (visit) => {
    const found = await edited(visit);
    return editPage(visit, found, typedFrom(found.recipient), NO_PROBLEMS);
  });

  routes.write("/webhooks/:id/edit", async (visit) => {
    const found = await edited(visit);
    const typed = readTyped(visit.form);
    const checked = checkChange(typed, found.recipient.settings, found.fields);
    if ("problems" in checked) return editPage(visit, found, typed, checked.problems);
    const { viewer } = visit;
    const { id } = found.recipient;
    const guard = function* () {
      const { recipient } = yield* viewRecipient(viewer, WEBHOOKS, id);
      requireSeen(visit, fingerprintOf(recipient), "webhook", async (problems) =>
        editPage(visit, await edited(visit), typed, problems),
      );
      const { url, allowPrivate } = recipient.settings;
      const isMoved = checked.settings.url !== undefined && checked.settings.url !== url;
      if (!viewer.isOperator && allowPrivate && isMoved)
        throw new Stopped(() => editPage(visit, found, typed, ONLY_OPERATORS));
    };
    const input = { webhook: id, ...webhookInput(checked.settings, viewer) };
    const { refused } = await visit.perform(setWebhook, input, guard);
    return redirect(pathOf(id), refused === null ? "saved" : "saved-but-refused");
  });

  routes.read("/webhooks/:id/rotate-secret", async (visit) =>
    page("New secret", rotateView((await edited(visit)).recipient)),
  );

  routes.write("/webhooks/:id/rotate-secret", async (visit) =>
    once.run(
      visit,
      () => rotate(visit),
      () => redirect(pathOf(visit.params["id"] ?? ""), "secret-made-already"),
    ),
  );

  async function rotate(visit: Visit): Promise<Answer> {
    const { webhook, secret, previous_secret_expires_at } = await visit.perform(rotateSecret, {
      webhook: visit.params["id"] ?? "",
    });
    const oldUntil = Date.parse(previous_secret_expires_at);
    const use = `Until ${timeText(oldUntil)} each message is signed with the old one too, so nothing breaks while you change the receiver.`;
    return page(
      "New secret",
      html`${recipientCrumbs(pathOf(webhook.id), "webhook")}${secretBox(secret, use)}`,
      201,
    );
  }
}

const ONLY_OPERATORS: Problems = new Map([
  [
    "url",
    "This webhook may reach private addresses, so only an operator of this server can change its address.",
  ],
]);

function editPage(
  { viewer }: Visit,
  { recipient: webhook, fields }: Edited<Webhook>,
  typed: TypedWebhook,
  problems: Problems,
): Answer {
  const { isOperator } = viewer;
  const headerNames = [...webhook.headers.keys()];
  const content = html`${recipientCrumbs(pathOf(webhook.id), "webhook")}
    <div class="head"><h1>Change the webhook</h1></div>
    ${problemSummary(problems)}
    <section class="card">
      <form class="stacked" method="post" action="${pathOf(webhook.id)}/edit" data-unsaved>
        <input type="hidden" name="seen" value="${fingerprintOf(webhook)}" />
        ${webhookFields({ typed, problems, endpoints: null, fields, shownUrl: shownChat(webhook.settings), headerNames, isOperator })}
        <div><button class="primary">Save</button></div>
      </form>
    </section>`;
  return page("Change the webhook", content, problems.size === 0 ? 200 : 422);
}

function rotateView(webhook: Webhook) {
  return html`${recipientCrumbs(pathOf(webhook.id), "webhook")}
    <div class="head"><h1>Make a new secret?</h1></div>
    <section class="card">
      <div class="body">
        <p>
          The new one signs at once. For 24 hours each message is signed with the old one too, so the receiver goes on
          accepting them while you change it there.
        </p>
        <form method="post" action="${pathOf(webhook.id)}/rotate-secret">${onceInput()}<button class="primary">Make a new secret</button></form>
      </div>
    </section>`;
}
