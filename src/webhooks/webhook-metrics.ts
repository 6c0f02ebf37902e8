import { sql } from "kysely";
import { type Database, query } from "../database/database.ts";
import type { Clock } from "../foundation/clock.ts";
import type { Metrics } from "../foundation/metrics.ts";

/** Delivered ones are left out: counting them would read the history. */
const COUNTED_STATES = ["pending", "sending", "held", "failed"] as const;

export function measureDeliveries(metrics: Metrics, db: Database, clock: Clock): void {
  metrics.gauges(
    "formsvc_webhook_deliveries",
    "Deliveries that are not delivered, by state.",
    "state",
    () => new Map(COUNTED_STATES.map((state) => [state, countIn(db, state)])),
  );
  metrics.gauge(
    "formsvc_webhook_oldest_due_seconds",
    "How long the delivery that waits longest is overdue; none while none is due.",
    () => {
      const row = db.first(
        query
          .selectFrom("delivery")
          .select(({ fn }) => fn.min("due_at").as("due_at"))
          .where("state", "=", sql.lit("pending")),
      );
      const due = row?.due_at ?? null;
      return due === null || due > clock.now() ? null : (clock.now() - due) / 1000;
    },
  );
}

/** By the small index of each state. */
function countIn(db: Database, state: (typeof COUNTED_STATES)[number]): number {
  const counted = db.first(
    query
      .selectFrom("delivery")
      .select(({ fn }) => fn.countAll<number>().as("deliveries"))
      .where("state", "=", sql.lit(state)),
  );
  return counted?.deliveries ?? 0;
}
