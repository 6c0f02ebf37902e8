import { switchMailRecipient } from "../mail/change-mail-recipient.ts";
import { mailChannel } from "../mail/mail-deliveries.ts";
import { MAIL_KIND } from "../mail/mail-recipient.ts";
import { getViewableMailRecipient, type OwnedMailRecipient } from "../mail/viewable-mail-recipients.ts";
import { readQueue } from "../outbox/count-deliveries.ts";
import { page, redirect } from "./answer.ts";
import { recipientPath } from "./channel-of.ts";
import { readDeliveryList } from "./deliveries-card.ts";
import { applied, type DashboardParts } from "./parts.ts";
import { recipientView } from "./recipient-view.ts";
import { mailMissing } from "./recipient-words.ts";
import type { Routes, Visit } from "./routes.ts";

/** `/dashboard/recipients/:id`: its state and its messages, pausing and starting. */
export function recipientPages(routes: Routes, parts: DashboardParts): void {
  const { db, config, clock } = parts;

  /** @throws not_found */
  const owned = ({ viewer, params }: Visit): Promise<OwnedMailRecipient> =>
    db.read(() => getViewableMailRecipient(viewer, params["id"] ?? ""));

  routes.read("/recipients/:id", async (visit) => {
    const found = await owned(visit);
    const { id, settings } = found.recipient;
    const list = await readDeliveryList(db, mailChannel, id, visit.query);
    const queue = await db.read(() => readQueue(id));
    const missing = mailMissing(config, visit.viewer.isOperator);
    return page(settings.address, recipientView({ ...found, list, queue, missing }));
  });

  for (const enabled of [true, false]) {
    routes.write(`/recipients/:id/${enabled ? "enable" : "disable"}`, async (visit) => {
      const { id } = (await owned(visit)).recipient;
      await applied(parts, () => switchMailRecipient(db, { id, enabled, actor: visit.viewer }, clock));
      return redirect(recipientPath(MAIL_KIND, id), enabled ? "sending-started" : "sending-paused");
    });
  }
}
