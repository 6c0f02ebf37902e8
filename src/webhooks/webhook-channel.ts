import type { Channel } from "../outbox/queue/channel-deliveries.ts";
import { WEBHOOK_KIND } from "./webhook.ts";

/** The deliveries of webhooks. */
export const webhookChannel: Channel = { kind: WEBHOOK_KIND, alsoShows: [] };
