import { FormsvcError } from "../../foundation/errors.ts";
import { switchMailRecipient } from "../../mail/change-mail-recipient.ts";
import { mailChannel } from "../../mail/mail-deliveries.ts";
import { MAIL_KIND } from "../../mail/mail-recipient.ts";
import { getViewableMailRecipient, type OwnedMailRecipient } from "../../mail/viewable-mail-recipients.ts";
import { readQueue } from "../../outbox/queue/count-deliveries.ts";
import { createAsking } from "./ask-recipient.ts";
import { type Answer, page, redirect } from "../answer.ts";
import { recipientPath } from "./channel-of.ts";
import { readDeliveryList } from "./deliveries-card.ts";
import { readMailFault } from "./mail-fault.ts";
import { applied, type DashboardParts } from "../parts.ts";
import { recipientNewPages } from "./recipient-new-page.ts";
import { recipientView } from "./recipient-view.ts";
import { isTestable, mailMissing, NOT_SET_UP } from "./recipient-words.ts";
import type { Routes, Visit } from "../routes.ts";
import { createRecipientTests, type MailTest } from "./test-recipient.ts";
import { takeTryNow } from "./try-now.ts";

/** `/dashboard/recipients/:id`: its state and its messages, a test, pausing and starting; and the pages that add recipients. */
export function recipientPages(routes: Routes, parts: DashboardParts): void {
  const { db, config, clock } = parts;
  const sendTest = createRecipientTests(parts);
  const asking = createAsking(parts);
  recipientNewPages(routes, parts, asking);

  /** @throws not_found */
  const owned = ({ viewer, params }: Visit): Promise<OwnedMailRecipient> =>
    db.read(() => getViewableMailRecipient(viewer, params["id"] ?? ""));

  routes.read("/recipients/:id", async (visit) => show(visit, await owned(visit), null));

  routes.write("/recipients/:id/test", async (visit) => {
    const found = await owned(visit);
    const { recipient } = found;
    if (sendTest === null) throw new FormsvcError("unavailable", NOT_SET_UP);
    if (!isTestable(recipient))
      throw new FormsvcError(
        "conflict",
        `The holder of ${recipient.settings.address} did not agree to get e-mail.`,
      );
    return show(visit, found, await sendTest(visit.viewer, recipient, visit.now));
  });

  routes.write("/recipients/:id/try", async (visit) => {
    const { id } = (await owned(visit)).recipient;
    return takeTryNow(parts, visit, id, recipientPath(MAIL_KIND, id));
  });

  for (const enabled of [true, false]) {
    routes.write(`/recipients/:id/${enabled ? "enable" : "disable"}`, async (visit) => {
      const { id } = (await owned(visit)).recipient;
      await applied(parts, () => switchMailRecipient(db, { id, enabled, actor: visit.viewer }, clock));
      return redirect(recipientPath(MAIL_KIND, id), enabled ? "sending-started" : "sending-paused");
    });
  }

  async function show(visit: Visit, found: OwnedMailRecipient, tested: MailTest | null): Promise<Answer> {
    const { id, settings } = found.recipient;
    const list = await readDeliveryList(db, mailChannel, id, visit);
    const queue = await db.read(() => readQueue(id));
    const missing = mailMissing(config, visit.viewer.isOperator);
    const canTest = sendTest !== null && isTestable(found.recipient);
    const isOpen = found.recipient.confirmedAt === null;
    const question = isOpen ? await db.read(() => asking.lastAttempt(id)) : null;
    const fault = await db.read(() => readMailFault(config));
    const content = recipientView({ ...found, list, queue, fault, missing, canTest, tested, question });
    return page(settings.address, content, typeof tested === "string" ? 429 : 200);
  }
}
