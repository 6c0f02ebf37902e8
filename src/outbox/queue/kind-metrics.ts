import type { Database } from "../../database/database.ts";
import type { Clock } from "../../foundation/clock.ts";
import type { Metrics } from "../../foundation/metrics.ts";
import { countDeliveries, oldestDueAt } from "./count-deliveries.ts";
import { countRecipients } from "./recipient-store.ts";

/** The names of the metrics of one kind of recipient. */
export interface KindMetricNames {
  /** The kind of its recipients. */
  readonly kind: string;
  /** The name and the help text of the metric that counts recipients by state. */
  readonly recipients: readonly [name: string, help: string];
  /** The beginning of the names of the other metrics. */
  readonly prefix: string;
}

/** Measures the recipients of one kind and the messages that wait for them. */
export function measureKind(
  { kind, recipients: [name, help], prefix }: KindMetricNames,
  { metrics, db, clock }: { readonly metrics: Metrics; readonly db: Database; readonly clock: Clock },
): void {
  metrics.gauges(name, help, "state", () => db.read(() => countRecipients(kind)));
  metrics.gauges(`${prefix}_deliveries`, "Deliveries that are not delivered, by state.", "state", () =>
    db.read(() => countDeliveries(kind)),
  );
  metrics.gauge(
    `${prefix}_oldest_due_seconds`,
    "How long the delivery that waits longest is overdue; none while none is due.",
    async () => {
      const overdueMs = clock.now() - (await db.read(() => oldestDueAt(kind)));
      return overdueMs >= 0 ? overdueMs / 1000 : null;
    },
  );
}
