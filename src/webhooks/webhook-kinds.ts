import type { ShownKinds } from "../outbox/queue/shown-deliveries.ts";
import { WEBHOOK_KIND } from "./webhook.ts";

/** The kinds of recipient whose deliveries are shown as those of webhooks. */
export const webhookKinds: ShownKinds = { kind: WEBHOOK_KIND, alsoShows: [] };
