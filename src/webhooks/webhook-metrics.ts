import type { KindMetricNames } from "../outbox/queue/kind-metrics.ts";
import { WEBHOOK_KIND } from "./webhook.ts";

export const WEBHOOK_METRICS: KindMetricNames = {
  kind: WEBHOOK_KIND,
  recipients: [
    "formsvc_webhooks",
    "Webhooks by state; an enabled one that gets probes only counts as failing instead.",
  ],
  prefix: "formsvc_webhook",
};
