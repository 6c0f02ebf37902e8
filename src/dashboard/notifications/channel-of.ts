import type { Actor } from "../../audit/audit-store.ts";
import type { Steps } from "../../database/steps.ts";
import { mailChannel } from "../../mail/mail-deliveries.ts";
import { MAIL_KIND } from "../../mail/mail-recipient.ts";
import type { Channel } from "../../outbox/queue/channel-deliveries.ts";
import { REPLY_KIND } from "../../outbox/queue/recipient.ts";
import { findRecipient } from "../../outbox/queue/recipient-store.ts";
import { WEBHOOK_KIND } from "../../webhooks/webhook.ts";
import { webhookChannel } from "../../webhooks/webhook-deliveries.ts";

/** The channel of a message to this recipient. That of e-mail refuses to send an automatic reply again. */
export function* channelOf(recipientId: string): Steps<Channel<Actor>> {
  const webhook = yield* findRecipient(WEBHOOK_KIND, recipientId);
  return webhook === undefined ? mailChannel : webhookChannel;
}

/** The page of a recipient. */
export function recipientPath(kind: string, id: string): string {
  return `/dashboard/${Object.hasOwn(FOLDERS, kind) ? FOLDERS[kind] : "webhooks"}/${id}`;
}

const FOLDERS: Readonly<Record<string, string>> = { [MAIL_KIND]: "recipients", [REPLY_KIND]: "replies" };
