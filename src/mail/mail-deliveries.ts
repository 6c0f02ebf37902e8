import { z } from "zod";
import { nextCursor } from "../operations/list-page.ts";
import { operation } from "../operations/operation.ts";
import {
  attemptJson,
  attemptShape,
  deliveryMembers,
  deliveryMembersJson,
} from "../recipients/delivery-json.ts";
import { deliveryListInput, deliveryReference } from "../recipients/delivery-input.ts";
import { chooseRecipients } from "../recipients/reach-delivery.ts";
import { replay, type ReplayedKinds, replayedShape, replayInput } from "../recipients/replay-recipients.ts";
import { getMail, listMail, type ListedMail, MAIL_KINDS, refuseLetter } from "./list-mail.ts";
import { mailKinds } from "./mail-kinds.ts";
import type { MailRecipient } from "./mail-recipient.ts";
import { noMailRecipient, MAIL_RECIPIENTS } from "./mail-recipient-store.ts";

const shape = z.strictObject({
  id: z.string(),
  recipient_id: z.string().nullable().describe("Null for a letter that goes to no recipient of an endpoint."),
  kind: z.enum(MAIL_KINDS),
  ...deliveryMembers,
  summary_id: z
    .string()
    .nullable()
    .describe("The message that it goes with; null if it goes by itself or leads."),
  others: z.number().describe("How many other messages go in the same summary."),
});

function json(mail: ListedMail): z.output<typeof shape> {
  const { id, recipientId, kind, leadId, others } = mail;
  return { id, recipient_id: recipientId, kind, ...deliveryMembersJson(mail), summary_id: leadId, others };
}

const onlyOne = z.string().nullable().default(null).describe("Only this recipient's, by its id.");

export const listMailDeliveries = operation({
  name: "mail.deliveries",
  summary: "List e-mails to recipients, automatic replies and letters, newest first",
  kind: "read",
  access: "recipients:read",
  input: z.strictObject({ recipient: onlyOne, ...deliveryListInput }),
  output: z.strictObject({ data: z.array(shape), next_cursor: nextCursor }),
  *run(context, { recipient, endpoint, workspace, submission, ...page }) {
    const choice = { recipientId: recipient, endpoint, workspace };
    const { recipientId, endpointIds } = yield* chooseRecipients(context, mailKinds, choice, noMailRecipient);
    const filter = { recipientId, endpointIds, submissionId: submission, ...page };
    const { deliveries, nextCursor: next } = yield* listMail(filter);
    return { data: deliveries.map(json), next_cursor: next };
  },
});

export const showMailDelivery = operation({
  name: "mail.attempts",
  summary: "Show every attempt of an e-mail and its result",
  kind: "read",
  access: "recipients:read",
  input: z.strictObject(deliveryReference),
  output: z.strictObject({ delivery: shape, data: z.array(attemptShape) }),
  *run(context, { delivery: id }) {
    const { delivery, attempts } = yield* getMail(context, id);
    return { delivery: json(delivery), data: attempts.map(attemptJson) };
  },
});

const replayed: ReplayedKinds<MailRecipient> = {
  ...mailKinds,
  type: MAIL_RECIPIENTS,
  action: "recipient.replay",
  // They have no addresses of files.
  renew: null,
  everyone: "every recipient",
};

export const replayMail = operation({
  name: "mail.replay",
  summary: "Send e-mail again: one delivery, all that failed, or a range of time",
  kind: "write",
  access: "recipients:write",
  input: z.strictObject({ recipient: onlyOne, ...replayInput }),
  output: replayedShape,
  async run(context, { recipient: recipientId, ...request }) {
    const { delivery } = request;
    // Who may not see the letter is told below that there is none.
    if (delivery !== null && context.viewing.isOperator) await context.db.read(() => refuseLetter(delivery));
    return replay(context, replayed, { recipientId, ...request });
  },
});
