import { toIsoTime } from "../foundation/clock.ts";
import type { MailRecipient } from "./mail-recipient.ts";

/** How a recipient is, in one word. */
export type MailRecipientState = "unconfirmed" | "unsubscribed" | "disabled" | "failing" | "enabled";

export function stateOf({ state, confirmedAt, unsubscribedAt }: MailRecipient): MailRecipientState {
  if (unsubscribedAt !== null) return "unsubscribed";
  if (confirmedAt === null) return "unconfirmed";
  return state === "stopped" ? "failing" : state;
}

/** A recipient as every JSON output shows it. */
export function mailRecipientJson(recipient: MailRecipient) {
  const { settings, confirmedAt, unsubscribedAt, failingSince } = recipient;
  return {
    id: recipient.id,
    endpoint_id: recipient.endpointId,
    address: settings.address,
    state: stateOf(recipient),
    enabled: recipient.state === "enabled",
    digest: settings.digest,
    subject: settings.subject,
    max_spam_score: settings.maxSpamScore,
    refusals: recipient.refusals,
    failing_since: failingSince === null ? null : toIsoTime(failingSince),
    confirmed_at: confirmedAt === null ? null : toIsoTime(confirmedAt),
    unsubscribed_at: unsubscribedAt === null ? null : toIsoTime(unsubscribedAt),
    created_at: toIsoTime(recipient.createdAt),
  };
}
