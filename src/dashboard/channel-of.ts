import type { Actor } from "../audit/audit-store.ts";
import type { Steps } from "../database/steps.ts";
import { mailChannel } from "../mail/mail-deliveries.ts";
import { MAIL_KIND } from "../mail/mail-recipient.ts";
import { findMailRecipient } from "../mail/mail-recipient-store.ts";
import type { Channel } from "../outbox/channel-deliveries.ts";
import { webhookChannel } from "../webhooks/webhook-deliveries.ts";

/** The channel of a message to this recipient. */
export function* channelOf(recipientId: string): Steps<Channel<Actor>> {
  return (yield* findMailRecipient(recipientId)) === undefined ? webhookChannel : mailChannel;
}

/** The page of a recipient. */
export function recipientPath(kind: string, id: string): string {
  return `/dashboard/${kind === MAIL_KIND ? "recipients" : "webhooks"}/${id}`;
}
