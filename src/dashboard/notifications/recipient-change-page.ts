import { FormsvcError } from "../../foundation/errors.ts";
import { html } from "../../foundation/html.ts";
import { setRecipient } from "../../mail/recipients/recipient-operations.ts";
import { MAIL_KIND, type MailRecipient } from "../../mail/recipients/mail-recipient.ts";
import { MAIL_RECIPIENTS } from "../../mail/recipients/mail-recipient-store.ts";
import { viewRecipient } from "../../recipients/reach-recipient.ts";
import { type Answer, page, redirect } from "../answer.ts";
import { recipientPath } from "./recipient-paths.ts";
import { NO_PROBLEMS, type Problems, problemSummary } from "../kit/field.ts";
import type { DashboardParts } from "../parts.ts";
import {
  checkChange,
  fingerprintOf,
  readTyped,
  recipientFields,
  type TypedRecipient,
  typedFrom,
} from "./recipient-form.ts";
import { type Edited, readEdited, recipientCrumbs, requireSeen } from "./recipient-acts.ts";
import type { Routes, Visit } from "../routes.ts";

/** Changing a recipient, on a page of its own below `/dashboard/recipients/:id`. */
export function recipientChangePages(routes: Routes, parts: DashboardParts): void {
  const edited = (visit: Visit): Promise<Edited<MailRecipient>> => readEdited(parts, visit, MAIL_RECIPIENTS);

  routes.read("/recipients/:id/edit", async (visit) => {
    const found = await edited(visit);
    return editPage(found, typedFrom(found.recipient), NO_PROBLEMS);
  });

  routes.write("/recipients/:id/edit", async (visit) => {
    const found = await edited(visit);
    const typed = readTyped(visit.form);
    const problems = new Map<string, string>();
    const known = found.recipient.settings.conditions;
    const wanted = checkChange(problems, typed, found.fields, known);
    if (wanted === null) return editPage(found, typed, problems);
    const { id } = found.recipient;
    const guard = function* () {
      const { recipient } = yield* viewRecipient(visit.viewer, MAIL_RECIPIENTS, id);
      requireSeen(visit, fingerprintOf(recipient), "recipient", async (problems) =>
        editPage(await edited(visit), typed, problems),
      );
    };
    const { maxSpamScore: max_spam_score, ...rest } = wanted;
    try {
      await visit.perform(setRecipient, { recipient: id, max_spam_score, ...rest }, guard);
    } catch (error) {
      if (!(error instanceof FormsvcError) || error.code !== "already_exists") throw error;
      return editPage(found, typed, new Map([["conditions", EQUAL_TO_ANOTHER]]));
    }
    return redirect(recipientPath(MAIL_KIND, id), "saved");
  });
}

const EQUAL_TO_ANOTHER = "This address is a recipient of the form with the same conditions already.";

function editPage(
  { recipient, fields }: Edited<MailRecipient>,
  typed: TypedRecipient,
  problems: Problems,
): Answer {
  const path = recipientPath(MAIL_KIND, recipient.id);
  const content = html`${recipientCrumbs(path, "recipient")}
    <div class="head"><h1>Change the recipient</h1></div>
    ${problemSummary(problems)}
    <section class="card">
      <form class="stacked" method="post" action="${path}/edit" data-unsaved>
        <input type="hidden" name="seen" value="${fingerprintOf(recipient)}" />
        <p>
          <b>${recipient.settings.address}</b> itself stays, because its holder agreed for it alone. For another address, add a
          recipient.
        </p>
        ${recipientFields({ typed, problems, endpoints: null, fields })}
        <div><button class="primary">Save</button></div>
      </form>
    </section>`;
  return page("Change the recipient", content, problems.size === 0 ? 200 : 422);
}
