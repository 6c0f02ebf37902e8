import type { Database } from "../database/database.ts";
import type { Clock } from "../foundation/clock.ts";
import { alignDeliveries } from "../outbox/align-deliveries.ts";
import type { Webhook } from "./webhook.ts";
import { setWebhookEnabled } from "./webhook-store.ts";

/** Enables or disables a webhook and moves its deliveries to the matching state. @throws not_found */
export async function switchWebhook(
  db: Database,
  id: string,
  enabled: boolean,
  clock: Clock,
): Promise<Webhook> {
  const webhook = await db.transaction(() => setWebhookEnabled(id, enabled));
  while (await db.transaction(() => alignDeliveries(clock.now())));
  return webhook;
}
