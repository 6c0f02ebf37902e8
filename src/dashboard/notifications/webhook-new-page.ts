import type { z } from "zod";
import { html, type Html } from "../../foundation/html.ts";
import { createWebhook } from "../../webhooks/webhook-operations.ts";
import { type Answer, page, redirect } from "../answer.ts";
import { emptyCard } from "../kit/empty-card.ts";
import { findFields, listFormChoices } from "../forms/form-choice.ts";
import { NO_PROBLEMS, type Problems, problemSummary, problemsFrom } from "../kit/field.ts";
import { createOnce, onceInput } from "../kit/once.ts";
import type { DashboardParts } from "../parts.ts";
import type { Routes, Visit } from "../routes.ts";
import {
  checkTyped,
  EMPTY_WEBHOOK,
  readTyped,
  type TypedWebhook,
  webhookFields,
  webhookInput,
} from "./webhook-form.ts";
import type { FormFields } from "./recipient-form.ts";
import { pathOf, secretBox } from "./webhook-view.ts";
import { doubtWords } from "./webhook-words.ts";

/** `/dashboard/webhooks/new`. */
export function webhookNewPages(routes: Routes, parts: DashboardParts): void {
  const { db } = parts;
  const once = createOnce((answer) => answer.kind === "page" && answer.status === 201);

  routes.read("/webhooks/new", async (visit) =>
    newPage(visit, { ...EMPTY_WEBHOOK, endpointId: visit.query.get("endpoint") ?? "" }, NO_PROBLEMS),
  );

  routes.write("/webhooks/new", async (visit) =>
    once.run(
      visit,
      () => takeNew(visit),
      () => redirect("/dashboard/notifications", "webhook-made-already"),
    ),
  );

  async function takeNew(visit: Visit): Promise<Answer> {
    const typed = readTyped(visit.form);
    const checked = checkTyped(typed, await readFields(visit, typed));
    if ("problems" in checked) return newPage(visit, typed, checked.problems);
    try {
      const input = webhookInput(checked.settings, visit.viewer);
      const made = await visit.perform(createWebhook, { endpoint: typed.endpointId, ...input });
      return page("Webhook added", createdView(made), 201);
    } catch (error) {
      return newPage(visit, typed, problemsFrom(error, ""));
    }
  }

  function readFields({ viewer }: Visit, { endpointId }: TypedWebhook): Promise<FormFields> {
    return Promise.resolve(db.read(() => findFields(viewer, endpointId)));
  }

  async function newPage(visit: Visit, typed: TypedWebhook, problems: Problems): Promise<Answer> {
    const endpoints = await db.read(() => listFormChoices(visit.viewer));
    const fields = await readFields(visit, typed);
    const content =
      endpoints.length === 0 ? noEndpoints() : newView(visit, { typed, problems, endpoints, fields });
    return page("Add a webhook or chat", content, problems.size === 0 ? 200 : 422);
  }
}

function newView(
  { viewer, form }: Visit,
  shown: Pick<Parameters<typeof webhookFields>[0], "typed" | "problems" | "endpoints" | "fields">,
): Html {
  const { isOperator } = viewer;
  return html`<p class="crumbs"><a href="/dashboard/notifications">← Notifications</a></p>
    <div class="head"><h1>Add a webhook or chat</h1></div>
    ${problemSummary(shown.problems)}
    <section class="card">
      <form class="stacked" method="post" action="/dashboard/webhooks/new" data-unsaved>
        ${onceInput(form)}
        ${webhookFields({ ...shown, shownUrl: null, headerNames: [], isOperator })}
        <div><button class="primary">Add the webhook</button></div>
      </form>
    </section>`;
}

function noEndpoints(): Html {
  return html`<p class="crumbs"><a href="/dashboard/notifications">← Notifications</a></p>
    <div class="head"><h1>Add a webhook or chat</h1></div>
    ${emptyCard(
      "There is no form yet",
      "A webhook sends on the posts of one form.",
      html`<a class="button primary" href="/dashboard/endpoints/new">Make a form first</a>`,
    )}`;
}

function createdView({ webhook, secret, ...doubt }: z.output<(typeof createWebhook)["output"]>): Html {
  const path = pathOf(webhook.id);
  const refused = doubtWords(doubt);
  return html`<p class="crumbs"><a href="/dashboard/notifications">← Notifications</a></p>
    <div class="head"><h1>Webhook added</h1></div>
    ${refused !== null && html`<p class="notice bad" role="alert">${refused}</p>`}
    ${secret !== null && secretBox(secret, "With it the receiver can check that a message comes from this server.")}
    <section class="card">
      <header><h2>Try it now</h2></header>
      <div class="body">
        <p>A test sends an invented submission once. Nothing of it is stored.</p>
        <div class="actions">
          <form method="post" action="${path}/test"><button class="primary">Send a test</button></form>
          <a class="button" href="${path}">Go to the webhook</a>
        </div>
      </div>
    </section>`;
}
