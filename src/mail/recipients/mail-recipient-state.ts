import { toIsoTime } from "../../foundation/clock.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import type { MailRecipient } from "./mail-recipient.ts";

export const MAIL_RECIPIENT_STATES = [
  "unconfirmed",
  "unsubscribed",
  "disabled",
  "failing",
  "enabled",
] as const;

/** The state of a recipient in one word. */
export type MailRecipientState = (typeof MAIL_RECIPIENT_STATES)[number];

export function stateOf({ state, confirmedAt, unsubscribedAt }: MailRecipient): MailRecipientState {
  if (unsubscribedAt !== null) return "unsubscribed";
  if (confirmedAt === null) return "unconfirmed";
  return state === "stopped" ? "failing" : state;
}

/**
 * Checks that the holder of an address agreed to e-mail, because nobody else decides that. @throws conflict if they did not agree, or have
 * unsubscribed.
 */
export function requireAgreed({ settings, confirmedAt, unsubscribedAt }: MailRecipient): void {
  const { address } = settings;
  if (unsubscribedAt !== null) {
    const since = toIsoTime(unsubscribedAt);
    throw new FormsvcError(
      "conflict",
      `${address} unsubscribed at ${since}; if its holder agrees again, remove the recipient and add it anew`,
    );
  }
  if (confirmedAt === null)
    throw new FormsvcError("conflict", `the holder of ${address} has not confirmed yet`);
}
