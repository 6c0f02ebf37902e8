import { type Actor, recordChange } from "../audit/audit-store.ts";
import type { Channel } from "../outbox/queue/channel-deliveries.ts";
import { recordWebhookChange } from "./record-webhook-change.ts";
import { getWebhook } from "./webhook-store.ts";
import { WEBHOOK_KIND } from "./webhook.ts";

/** The deliveries of webhooks. */
export const webhookChannel: Channel<Actor> = {
  kind: WEBHOOK_KIND,
  alsoShows: [],
  requireRecipient: getWebhook,
  *recordReplay(actor, webhookId, now) {
    if (webhookId !== null)
      return yield* recordWebhookChange(actor, "replay", yield* getWebhook(webhookId), now);
    const change = { subject: "every webhook", workspaceId: null, detail: null };
    return yield* recordChange(actor, { action: "webhook.replay", ...change }, now);
  },
};
