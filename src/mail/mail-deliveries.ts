import { z } from "zod";
import { operation } from "../operations/operation.ts";
import { deliveryMembers, deliveryMembersJson } from "../recipients/delivery-json.ts";
import { deliveryOperations, onlyRecipient } from "../recipients/delivery-operations.ts";
import { replay, type ReplayedKinds, replaying, replayInput } from "../recipients/replay-recipients.ts";
import { getMail, listMail, type ListedMail, MAIL_KINDS, refuseLetter } from "./list-mail.ts";
import { mailKinds } from "./mail-kinds.ts";
import type { MailRecipient } from "./recipients/mail-recipient.ts";
import { MAIL_RECIPIENTS } from "./recipients/mail-recipient-store.ts";

const shape = z.strictObject({
  id: z.string(),
  recipient_id: z.string().nullable().describe("Null for a letter that goes to no recipient of an endpoint."),
  kind: z.enum(MAIL_KINDS),
  ...deliveryMembers,
  summary_id: z
    .string()
    .nullable()
    .describe(
      "Id of the message that leads the summary in which this one is sent; null if it leads the summary itself, or is sent alone.",
    ),
  others: z.number().describe("How many other messages go in the same summary."),
});

function json(mail: ListedMail): z.output<typeof shape> {
  const { id, recipientId, kind, leadId, others } = mail;
  return { id, recipient_id: recipientId, kind, ...deliveryMembersJson(mail), summary_id: leadId, others };
}

export const { list: listMailDeliveries, show: showMailDelivery } = deliveryOperations({
  noun: "mail",
  recipient: "recipient",
  kinds: mailKinds,
  none: MAIL_RECIPIENTS.none,
  shape,
  json,
  list: listMail,
  get: getMail,
  summaries: {
    list: "List e-mails to recipients, automatic replies and letters, newest first",
    show: "Show every attempt of an e-mail and its result",
  },
});

const replayed: ReplayedKinds<MailRecipient> = {
  ...mailKinds,
  type: MAIL_RECIPIENTS,
  action: "recipient.replay",
  // E-mails contain no addresses of files that could expire.
  renew: null,
  everyone: "every recipient",
};

export const replayMail = operation({
  ...replaying,
  name: "mail.replay",
  summary: "Send e-mail again: one delivery, all that failed, or a range of time",
  input: z.strictObject({ ...onlyRecipient("recipient"), ...replayInput }),
  async run(context, { recipient: recipientId, ...request }) {
    const { delivery } = request;
    // For an account that may not see the letter, the replay below says that there is no such delivery.
    if (delivery !== null && context.viewing.isOperator) await context.db.read(() => refuseLetter(delivery));
    return replay(context, replayed, { recipientId, ...request });
  },
});
