import { FormsvcError } from "../../foundation/errors.ts";
import { html, type Html } from "../../foundation/html.ts";
import { askRecipient, createRecipient } from "../../mail/recipients/ask-recipient.ts";
import { mailMissing } from "../../mail/health/mail-missing.ts";
import { MAIL_KIND } from "../../mail/recipients/mail-recipient.ts";
import { type Answer, page, redirect } from "../answer.ts";
import { recipientPath } from "./recipient-paths.ts";
import { emptyCard } from "../kit/empty-card.ts";
import { findFields, listFormChoices } from "../forms/form-choice.ts";
import { NO_PROBLEMS, type Problems, problemSummary, problemsFrom } from "../kit/field.ts";
import { createOnce, onceInput } from "../kit/once.ts";
import type { DashboardParts } from "../parts.ts";
import {
  checkTyped,
  EMPTY_RECIPIENT,
  type FormFields,
  readTyped,
  recipientFields,
  type TypedRecipient,
} from "./recipient-form.ts";
import type { Routes, Visit } from "../routes.ts";

/** `/dashboard/recipients/new`, and the letter that asks the holder of an address, the first time and again. */
export function recipientNewPages(routes: Routes, parts: DashboardParts): void {
  const { db } = parts;
  const once = createOnce((answer) => answer.kind === "redirect");

  routes.read("/recipients/new", async (visit) =>
    newPage(visit, { ...EMPTY_RECIPIENT, endpointId: visit.query.get("endpoint") ?? "" }, NO_PROBLEMS),
  );

  routes.write("/recipients/new", async (visit) =>
    once.run(
      visit,
      () => takeNew(visit),
      () => redirect("/dashboard/notifications", "recipient-made-already"),
    ),
  );

  routes.write("/recipients/:id/ask", async ({ perform, params }) => {
    const { recipient, asked } = await perform(askRecipient, { recipient: params["id"] ?? "" });
    return redirect(recipientPath(MAIL_KIND, recipient.id), noticeOf(asked));
  });

  async function takeNew(visit: Visit): Promise<Answer> {
    const typed = readTyped(visit.form);
    const problems = new Map<string, string>();
    const settings = checkTyped(problems, typed, await readFields(visit, typed));
    if (settings === null) return newPage(visit, typed, problems);
    try {
      const { maxSpamScore: max_spam_score, ...rest } = settings;
      const input = { endpoint: typed.endpointId, max_spam_score, ...rest };
      const { recipient, asked } = await visit.perform(createRecipient, input);
      return redirect(recipientPath(MAIL_KIND, recipient.id), noticeOf(asked));
    } catch (error) {
      if (error instanceof FormsvcError && error.code === "already_exists")
        return newPage(visit, typed, ADDED_BEFORE);
      return newPage(visit, typed, problemsFrom(error, ""));
    }
  }

  function readFields({ viewer }: Visit, { endpointId }: TypedRecipient): Promise<FormFields> {
    return Promise.resolve(db.read(() => findFields(viewer, endpointId)));
  }

  async function newPage(visit: Visit, typed: TypedRecipient, problems: Problems): Promise<Answer> {
    const endpoints = await db.read(() => listFormChoices(visit.viewer));
    const missing = mailMissing(parts.config, visit.viewer);
    const content =
      missing !== null
        ? emptyCard("Nobody can get e-mail yet", missing, BACK)
        : endpoints.length === 0
          ? NO_ENDPOINT
          : formCard(visit, { typed, problems, endpoints, fields: await readFields(visit, typed) });
    const whole = html`<p class="crumbs"><a href="/dashboard/notifications">← Notifications</a></p>
      <div class="head"><h1>Add an e-mail recipient</h1></div>
      ${problemSummary(problems)}${content}`;
    return page("Add an e-mail recipient", whole, problems.size === 0 ? 200 : 422);
  }
}

/** @param asked whether a letter is sent to the holder; null if none is needed */
function noticeOf(asked: boolean | null): string {
  if (asked === null) return "own-recipient-made";
  return asked ? "recipient-asked" : "recipient-not-asked";
}

const ADDED_BEFORE: Problems = new Map([
  ["address", "This address is a recipient of the form with the same conditions already."],
]);

const BACK = html`<a class="button" href="/dashboard/notifications">Back</a>`;
const NO_ENDPOINT = emptyCard(
  "There is no form yet",
  "A recipient is told of the posts of one form.",
  html`<a class="button primary" href="/dashboard/endpoints/new">Make a form first</a>`,
);

function formCard({ form }: Visit, fields: Parameters<typeof recipientFields>[0]): Html {
  return html`<section class="card">
    <form class="stacked" method="post" action="/dashboard/recipients/new" data-unsaved>
      ${onceInput(form)} ${recipientFields(fields)}
      <div><button class="primary">Add the recipient</button></div>
    </form>
  </section>`;
}
