import { findLastQuestion } from "../../mail/letters/letter-store.ts";
import { mailKinds } from "../../mail/mail-kinds.ts";
import { mailMissing } from "../../mail/health/mail-missing.ts";
import type { MailRecipient } from "../../mail/recipients/mail-recipient.ts";
import { readSchema } from "../../endpoints/endpoint-store.ts";
import { MAIL_RECIPIENTS } from "../../mail/recipients/mail-recipient-store.ts";
import { readQueue } from "../../outbox/queue/count-deliveries.ts";
import { mailRecipientOperations } from "../../mail/recipients/recipient-operations.ts";
import { testRecipient } from "../../mail/recipients/test-recipient.ts";
import type { Owned } from "../../recipients/reach-recipient.ts";
import { type Answer, page } from "../answer.ts";
import { actPages } from "./recipient-acts.ts";
import { readDeliveryList } from "./deliveries-card.ts";
import { readMailFault } from "./mail-fault.ts";
import type { DashboardParts } from "../parts.ts";
import { recipientNewPages } from "./recipient-new-page.ts";
import { type MailTest, recipientView } from "./recipient-view.ts";
import { isTestable } from "./recipient-words.ts";
import type { Routes, Visit } from "../routes.ts";

/**
 * `/dashboard/recipients/:id`: the state and the messages of a recipient, and the actions on it. Also adds the pages that make recipients.
 */
export function recipientPages(routes: Routes, parts: DashboardParts): void {
  const { db, config, mailTests } = parts;
  recipientNewPages(routes, parts);
  actPages(routes, parts, {
    type: MAIL_RECIPIENTS,
    folder: "recipients",
    noun: "recipient",
    nameOf: ({ settings }) => settings.address,
    show,
    test: ({ perform }, recipient) => perform(testRecipient, { recipient }),
    try: ({ perform }, recipient) => perform(mailRecipientOperations.try, { recipient }),
    enable: ({ perform }, recipient) => perform(mailRecipientOperations.enable, { recipient }),
    disable: ({ perform }, recipient) => perform(mailRecipientOperations.disable, { recipient }),
    delete: ({ perform }, recipient) => perform(mailRecipientOperations.delete, { recipient }),
  });

  async function show(visit: Visit, found: Owned<MailRecipient>, tested: MailTest | null): Promise<Answer> {
    const { id, settings } = found.recipient;
    const list = await readDeliveryList(db, mailKinds, id, visit);
    const queue = await db.read(() => readQueue(id));
    const fields = await db.read(() => readSchema(found.endpoint));
    const missing = mailMissing(config, visit.viewer);
    const canTest = mailTests !== null && isTestable(found.recipient);
    const isOpen = found.recipient.confirmedAt === null;
    const question = isOpen ? ((await db.read(() => findLastQuestion(id)))?.lastAttempt ?? null) : null;
    const fault = await db.read(() => readMailFault(config));
    const content = recipientView({
      ...found,
      fields,
      list,
      queue,
      fault,
      missing,
      canTest,
      tested,
      question,
    });
    return page(settings.address, content);
  }
}
