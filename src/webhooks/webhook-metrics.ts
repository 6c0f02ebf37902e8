import type { Database } from "../database/database.ts";
import type { Clock } from "../foundation/clock.ts";
import type { Metrics } from "../foundation/metrics.ts";
import { countDeliveries, oldestDueAt } from "../outbox/count-deliveries.ts";
import { countRecipients } from "../outbox/recipient-store.ts";
import { WEBHOOK_KIND } from "./webhook.ts";

export function measureWebhooks(metrics: Metrics, db: Database, clock: Clock): void {
  metrics.gauges(
    "formsvc_webhooks",
    "Webhooks by state; an enabled one that gets probes only counts as failing instead.",
    "state",
    () => db.read(() => countRecipients(WEBHOOK_KIND)),
  );
  metrics.gauges("formsvc_webhook_deliveries", "Deliveries that are not delivered, by state.", "state", () =>
    db.read(countDeliveries),
  );
  metrics.gauge(
    "formsvc_webhook_oldest_due_seconds",
    "How long the delivery that waits longest is overdue; none while none is due.",
    async () => {
      const overdueMs = clock.now() - (await db.read(oldestDueAt));
      return overdueMs >= 0 ? overdueMs / 1000 : null;
    },
  );
}
