import { findLastQuestion } from "../../mail/letter-store.ts";
import { mailKinds } from "../../mail/mail-kinds.ts";
import { mailMissing } from "../../mail/mail-missing.ts";
import { MAIL_KIND } from "../../mail/mail-recipient.ts";
import { getViewableMailRecipient, type OwnedMailRecipient } from "../../mail/viewable-mail-recipients.ts";
import { readQueue } from "../../outbox/queue/count-deliveries.ts";
import { disableRecipient, enableRecipient, tryRecipientNow } from "../../mail/recipient-operations.ts";
import { testRecipient } from "../../mail/test-recipient.ts";
import { type Answer, page, redirect } from "../answer.ts";
import { recipientPath } from "./recipient-paths.ts";
import { readDeliveryList } from "./deliveries-card.ts";
import { readMailFault } from "./mail-fault.ts";
import type { DashboardParts } from "../parts.ts";
import { recipientNewPages } from "./recipient-new-page.ts";
import { type MailTest, recipientView } from "./recipient-view.ts";
import { isTestable } from "./recipient-words.ts";
import type { Routes, Visit } from "../routes.ts";

/** `/dashboard/recipients/:id`: its state and its messages, a test, pausing and starting; and the pages that add recipients. */
export function recipientPages(routes: Routes, parts: DashboardParts): void {
  const { db, config, mailTests } = parts;
  recipientNewPages(routes, parts);

  /** @throws not_found */
  const owned = ({ viewer, params }: Visit): Promise<OwnedMailRecipient> =>
    db.read(() => getViewableMailRecipient(viewer, params["id"] ?? ""));

  routes.read("/recipients/:id", async (visit) => show(visit, await owned(visit), null));

  routes.write("/recipients/:id/test", async (visit) => {
    const found = await owned(visit);
    const named = { recipient: found.recipient.id };
    return show(visit, found, await visit.perform(testRecipient, named));
  });

  routes.write("/recipients/:id/try", async (visit) => {
    const { id = "" } = visit.params;
    await visit.perform(tryRecipientNow, { recipient: id });
    return redirect(recipientPath(MAIL_KIND, id), "tried-now");
  });

  for (const enabled of [true, false]) {
    routes.write(`/recipients/:id/${enabled ? "enable" : "disable"}`, async (visit) => {
      const { id = "" } = visit.params;
      await visit.perform(enabled ? enableRecipient : disableRecipient, { recipient: id });
      return redirect(recipientPath(MAIL_KIND, id), enabled ? "sending-started" : "sending-paused");
    });
  }

  async function show(visit: Visit, found: OwnedMailRecipient, tested: MailTest | null): Promise<Answer> {
    const { id, settings } = found.recipient;
    const list = await readDeliveryList(db, mailKinds, id, visit);
    const queue = await db.read(() => readQueue(id));
    const missing = mailMissing(config, visit.viewer.isOperator);
    const canTest = mailTests !== null && isTestable(found.recipient);
    const isOpen = found.recipient.confirmedAt === null;
    const question = isOpen ? ((await db.read(() => findLastQuestion(id)))?.lastAttempt ?? null) : null;
    const fault = await db.read(() => readMailFault(config));
    const content = recipientView({ ...found, list, queue, fault, missing, canTest, tested, question });
    return page(settings.address, content);
  }
}
