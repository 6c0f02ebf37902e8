import type { ShownKinds } from "../outbox/queue/shown-deliveries.ts";
import { WEBHOOK_KIND } from "./webhook.ts";

/** The deliveries of webhooks. */
export const webhookKinds: ShownKinds = { kind: WEBHOOK_KIND, alsoShows: [] };
