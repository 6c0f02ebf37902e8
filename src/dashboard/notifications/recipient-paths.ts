import type { Steps } from "../../database/steps.ts";
import { replayMail } from "../../mail/mail-deliveries.ts";
import type { Perform } from "../perform.ts";
import { MAIL_KIND } from "../../mail/recipients/mail-recipient.ts";
import { REPLY_KIND } from "../../outbox/queue/recipient.ts";
import { findRecipient } from "../../outbox/queue/recipient-store.ts";
import { WEBHOOK_KIND } from "../../webhooks/webhook.ts";
import { replayWebhook } from "../../webhooks/webhook-deliveries.ts";

/** Sends a message to this recipient again. An automatic reply is refused. */
export function* replayTo(
  recipientId: string,
): Steps<(perform: Perform, delivery: string) => Promise<unknown>> {
  const webhook = yield* findRecipient(WEBHOOK_KIND, recipientId);
  return webhook === undefined
    ? (perform, delivery) => perform(replayMail, { delivery })
    : (perform, delivery) => perform(replayWebhook, { delivery });
}

/** The path of a recipient's page. */
export function recipientPath(kind: string, id: string): string {
  return `/dashboard/${Object.hasOwn(FOLDERS, kind) ? FOLDERS[kind] : "webhooks"}/${id}`;
}

const FOLDERS: Readonly<Record<string, string>> = { [MAIL_KIND]: "recipients", [REPLY_KIND]: "replies" };
