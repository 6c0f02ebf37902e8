import { z } from "zod";
import { toIsoTime } from "../foundation/clock.ts";
import { conditionsShape } from "../recipients/condition-json.ts";
import { DIGESTS, type MailRecipient } from "./mail-recipient.ts";
import { MAIL_RECIPIENT_STATES, stateOf } from "./mail-recipient-state.ts";

const time = z.string().nullable();

export const mailRecipientShape = z.strictObject({
  id: z.string(),
  endpoint_id: z.string(),
  address: z.string(),
  state: z.enum(MAIL_RECIPIENT_STATES).describe("Unconfirmed gets nothing until its holder agrees."),
  enabled: z.boolean(),
  digest: z.enum(DIGESTS).describe("An e-mail for each submission, or one an hour or a day."),
  language: z.string().nullable().describe("Of its e-mails, like de; null is the endpoint's."),
  attach: z.boolean().describe("Whether an e-mail about one submission brings its files."),
  subject: z.string().nullable().describe("A template; null is the built-in one."),
  max_spam_score: z.number().describe("Nothing with a higher spam score is sent."),
  conditions: conditionsShape,
  refusals: z.number().describe("Messages in a row that were refused for good."),
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
