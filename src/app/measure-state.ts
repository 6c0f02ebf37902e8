import type { ServedDatabase } from "../database/served-database.ts";
import type { ExposedMetrics } from "../foundation/metrics.ts";
import { AUTO_REPLY_METRICS, MAIL_METRICS } from "../mail/health/mail-metrics.ts";
import { measureKind } from "../outbox/queue/kind-metrics.ts";
import { WEBHOOK_METRICS } from "../webhooks/webhook-metrics.ts";
import { measureUsage } from "../workspaces/workspace-metrics.ts";
import type { ServiceParts } from "./parts.ts";

/** Registers the values that are read when the metrics are requested. */
export function measureState(
  metrics: ExposedMetrics,
  { db, config, clock }: ServiceParts,
  served: ServedDatabase,
): void {
  served.measure(metrics);
  measureUsage(metrics, db, config.plans, clock);
  for (const names of [WEBHOOK_METRICS, MAIL_METRICS, AUTO_REPLY_METRICS])
    measureKind(names, { metrics, db, clock });
}
