import { readSchema } from "../../endpoints/endpoint-store.ts";
import { html } from "../../foundation/html.ts";
import { getViewableWebhook, type OwnedWebhook } from "../../webhooks/viewable-webhooks.ts";
import { deleteWebhook, rotateSecret, setWebhook } from "../../webhooks/webhook-operations.ts";
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
import type { FormFields } from "./recipient-form.ts";
import { crumbs, pathOf, secretBox } from "./webhook-view.ts";

/** Changing a webhook, its secret, and deleting it: each on a page of its own below `/dashboard/webhooks/:id`. */
export function webhookChangePages(routes: Routes, parts: DashboardParts): void {
  const { db } = parts;
  const once = createOnce((answer) => answer.kind === "page" && answer.status === 201);

  /** @throws not_found */
  const owned = ({ viewer, params }: Visit): Promise<OwnedWebhook> =>
    db.read(() => getViewableWebhook(viewer, params["id"] ?? ""));

  const edited = (visit: Visit): Promise<Edited> => readEdited(parts, visit);

  routes.read("/webhooks/:id/edit", async (visit) => {
    const found = await edited(visit);
    return editPage(visit, found, typedFrom(found.webhook), NO_PROBLEMS);
  });

  routes.write("/webhooks/:id/edit", async (visit) => {
    const found = await edited(visit);
    const typed = readTyped(visit.form);
    const checked = checkChange(typed, found.webhook.settings, found.fields);
    if ("problems" in checked) return editPage(visit, found, typed, checked.problems);
    const { viewer, form } = visit;
    const { id } = found.webhook;
    const guard = function* () {
      const { webhook } = yield* getViewableWebhook(viewer, id);
      if (form.get("seen") !== fingerprintOf(webhook))
        throw new Stopped(async () => editPage(visit, await edited(visit), typed, CHANGED_MEANWHILE));
      const { url, allowPrivate } = webhook.settings;
      const isMoved = checked.settings.url !== undefined && checked.settings.url !== url;
      if (!viewer.isOperator && allowPrivate && isMoved)
        throw new Stopped(() => editPage(visit, found, typed, ONLY_OPERATORS));
    };
    const input = { webhook: id, ...webhookInput(checked.settings, viewer) };
    const { refused } = await visit.perform(setWebhook, input, guard);
    return redirect(pathOf(id), refused === null ? "saved" : "saved-but-refused");
  });

  routes.read("/webhooks/:id/rotate-secret", async (visit) =>
    page("New secret", rotateView(await owned(visit))),
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
    return page("New secret", html`${crumbs(webhook.id)}${secretBox(secret, use)}`, 201);
  }

  routes.read("/webhooks/:id/delete", async (visit) =>
    page("Delete the webhook", deleteView(await owned(visit))),
  );

  routes.write("/webhooks/:id/delete", async (visit) => {
    await visit.perform(deleteWebhook, { webhook: visit.params["id"] ?? "" });
    return redirect("/dashboard/notifications", "webhook-deleted");
  });
}

interface Edited extends OwnedWebhook {
  readonly fields: FormFields;
}

/** With the fields of its form. @throws not_found */
async function readEdited({ db }: DashboardParts, { viewer, params }: Visit): Promise<Edited> {
  return db.read(function* () {
    const found = yield* getViewableWebhook(viewer, params["id"] ?? "");
    return { ...found, fields: yield* readSchema(found.endpoint) };
  });
}

const CHANGED_MEANWHILE: Problems = new Map([
  [
    "",
    "Somebody else changed this webhook while you had it open. The form has what you typed; compare it with the webhook, and save again to replace theirs.",
  ],
]);

const ONLY_OPERATORS: Problems = new Map([
  [
    "url",
    "This webhook may reach private addresses, so only an operator of this server can change its address.",
  ],
]);

function editPage(
  { viewer }: Visit,
  { webhook, fields }: Edited,
  typed: TypedWebhook,
  problems: Problems,
): Answer {
  const { isOperator } = viewer;
  const headerNames = [...webhook.headers.keys()];
  const content = html`${crumbs(webhook.id)}
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

function rotateView({ webhook }: OwnedWebhook) {
  return html`${crumbs(webhook.id)}
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

function deleteView({ webhook, endpoint }: OwnedWebhook) {
  return html`${crumbs(webhook.id)}
    <div class="head"><h1>Delete this webhook?</h1></div>
    <section class="card">
      <div class="body">
        <p>
          Submissions of <bdi>${endpoint.name}</bdi> are no longer sent to <b>${new URL(webhook.settings.url).host}</b>. All
          its messages and attempts are deleted, those that wait too. The submissions themselves stay.
        </p>
        <div class="actions">
          <form method="post" action="${pathOf(webhook.id)}/delete"><button class="danger">Delete the webhook</button></form>
          <a class="button" href="${pathOf(webhook.id)}">Keep it</a>
        </div>
      </div>
    </section>`;
}
