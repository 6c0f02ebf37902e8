import type { Actor } from "../audit/audit-store.ts";
import type { Steps } from "../database/steps.ts";
import { mailChannel } from "../mail/mail-deliveries.ts";
import { MAIL_KIND } from "../mail/mail-recipient.ts";
import type { Channel } from "../outbox/channel-deliveries.ts";
import { findRecipient } from "../outbox/recipient-store.ts";
import { WEBHOOK_KIND } from "../webhooks/webhook.ts";
import { webhookChannel } from "../webhooks/webhook-deliveries.ts";

/** The channel of a message to this recipient. That of e-mail refuses to send an automatic reply again. */
export function* channelOf(recipientId: string): Steps<Channel<Actor>> {
  const webhook = yield* findRecipient(WEBHOOK_KIND, recipientId);
  return webhook === undefined ? mailChannel : webhookChannel;
}

/** The page of a recipient. */
export function recipientPath(kind: string, id: string): string {
  return `/dashboard/${kind === MAIL_KIND ? "recipients" : "webhooks"}/${id}`;
}
