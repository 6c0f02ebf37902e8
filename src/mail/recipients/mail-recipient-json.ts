import { z } from "zod";
import { toIsoTime } from "../../foundation/clock.ts";
import { conditionsShape } from "../../recipients/condition-json.ts";
import { DIGESTS, type MailRecipient } from "./mail-recipient.ts";
import { MAIL_RECIPIENT_STATES, stateOf } from "./mail-recipient-state.ts";

const time = z.string().nullable();

export const mailRecipientShape = z.strictObject({
  id: z.string(),
  endpoint_id: z.string(),
  address: z.string(),
  state: z
    .enum(MAIL_RECIPIENT_STATES)
    .describe("An unconfirmed recipient gets nothing until the holder of the address agrees."),
  enabled: z.boolean(),
  digest: z
    .enum(DIGESTS)
    .describe("How often e-mails are sent: for each submission, or a summary every hour or every day."),
  language: z
    .string()
    .nullable()
    .describe("The language of its e-mails, a tag like de; null is the language of the endpoint."),
  attach: z.boolean().describe("Whether the files of a submission are attached to an e-mail about it alone."),
  subject: z.string().nullable().describe("The template of the subject; null is the built-in one."),
  max_spam_score: z.number().describe("Submissions with a higher spam score are not sent."),
  conditions: conditionsShape,
  refusals: z.number().describe("The number of messages in a row that were refused for good."),
  failing_since: time,
  confirmed_at: time,
  unsubscribed_at: time,
  created_at: z.string(),
});

/** A recipient as every JSON output shows it. */
export function mailRecipientJson(recipient: MailRecipient): z.output<typeof mailRecipientShape> {
  const { settings, confirmedAt, unsubscribedAt, failingSince } = recipient;
  return {
    id: recipient.id,
    endpoint_id: recipient.endpointId,
    address: settings.address,
    state: stateOf(recipient),
    enabled: recipient.state === "enabled",
    digest: settings.digest,
    language: settings.language,
    attach: settings.attach,
    subject: settings.subject,
    max_spam_score: settings.maxSpamScore,
    conditions: [...settings.conditions],
    refusals: recipient.refusals,
    failing_since: failingSince === null ? null : toIsoTime(failingSince),
    confirmed_at: confirmedAt === null ? null : toIsoTime(confirmedAt),
    unsubscribed_at: unsubscribedAt === null ? null : toIsoTime(unsubscribedAt),
    created_at: toIsoTime(recipient.createdAt),
  };
}
