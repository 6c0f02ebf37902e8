import { readSchema } from "../../endpoints/endpoint-store.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { html, type Html } from "../../foundation/html.ts";
import { deleteRecipient, setRecipient } from "../../mail/recipient-operations.ts";
import { MAIL_KIND } from "../../mail/mail-recipient.ts";
import { getViewableMailRecipient, type OwnedMailRecipient } from "../../mail/viewable-mail-recipients.ts";
import { Stopped } from "../perform.ts";
import { type Answer, page, redirect } from "../answer.ts";
import { recipientPath } from "./recipient-paths.ts";
import { NO_PROBLEMS, type Problems, problemSummary } from "../kit/field.ts";
import type { DashboardParts } from "../parts.ts";
import {
  checkChange,
  fingerprintOf,
  type FormFields,
  readTyped,
  recipientFields,
  type TypedRecipient,
  typedFrom,
} from "./recipient-form.ts";
import { recipientCrumbs } from "./recipient-view.ts";
import type { Routes, Visit } from "../routes.ts";

/** Changing a recipient and deleting it: each on a page of its own below `/dashboard/recipients/:id`. */
export function recipientChangePages(routes: Routes, parts: DashboardParts): void {
  const { db } = parts;

  /** @throws not_found */
  const owned = ({ viewer, params }: Visit): Promise<OwnedMailRecipient> =>
    db.read(() => getViewableMailRecipient(viewer, params["id"] ?? ""));

  const edited = (visit: Visit): Promise<Edited> => readEdited(parts, visit);

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
    const { viewer, form } = visit;
    const { id } = found.recipient;
    const guard = function* () {
      const { recipient } = yield* getViewableMailRecipient(viewer, id);
      if (form.get("seen") !== fingerprintOf(recipient))
        throw new Stopped(async () => editPage(await edited(visit), typed, CHANGED_MEANWHILE));
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

  routes.read("/recipients/:id/delete", async (visit) =>
    page("Delete the recipient", deleteView(await owned(visit))),
  );

  routes.write("/recipients/:id/delete", async (visit) => {
    await visit.perform(deleteRecipient, { recipient: visit.params["id"] ?? "" });
    return redirect("/dashboard/notifications", "recipient-deleted");
  });
}

interface Edited extends OwnedMailRecipient {
  readonly fields: FormFields;
}

/** With the fields of its form. @throws not_found */
async function readEdited({ db }: DashboardParts, { viewer, params }: Visit): Promise<Edited> {
  return db.read(function* () {
    const found = yield* getViewableMailRecipient(viewer, params["id"] ?? "");
    return { ...found, fields: yield* readSchema(found.endpoint) };
  });
}

const EQUAL_TO_ANOTHER = "This address is a recipient of the form with the same conditions already.";

const CHANGED_MEANWHILE: Problems = new Map([
  [
    "",
    "Somebody else changed this recipient while you had it open. The form has what you typed; compare it with the recipient, and save again to replace theirs.",
  ],
]);

function editPage({ recipient, fields }: Edited, typed: TypedRecipient, problems: Problems): Answer {
  const path = recipientPath(MAIL_KIND, recipient.id);
  const content = html`${recipientCrumbs(path)}
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

function deleteView({ recipient, endpoint }: OwnedMailRecipient): Html {
  const path = recipientPath(MAIL_KIND, recipient.id);
  return html`${recipientCrumbs(path)}
    <div class="head"><h1>Delete this recipient?</h1></div>
    <section class="card">
      <div class="body">
        <p>
          Submissions of <bdi>${endpoint.name}</bdi> are no longer sent to <b>${recipient.settings.address}</b>. All its
          messages and attempts are deleted, those that wait too. The submissions themselves stay.
        </p>
        <div class="actions">
          <form method="post" action="${path}/delete"><button class="danger">Delete the recipient</button></form>
          <a class="button" href="${path}">Keep it</a>
        </div>
      </div>
    </section>`;
}
