import { sql } from "kysely";
import { type Database, query } from "../database/database.ts";
import type { Clock } from "../foundation/clock.ts";
import type { Metrics } from "../foundation/metrics.ts";
import { countQueued, oldestQueuedAt } from "./queued-delivery.ts";

/** Delivered ones are left out: counting them would read the history. */
const COUNTED_STATES = ["pending", "sending", "held", "failed"] as const;

const WEBHOOK_STATES = ["enabled", "disabled", "stopped", "failing"] as const;

export function measureWebhooks(metrics: Metrics, db: Database, clock: Clock): void {
  metrics.gauges(
    "formsvc_webhooks",
    "Webhooks by state; an enabled one that gets probes only counts as failing instead.",
    "state",
    () => countWebhooks(db),
  );
  metrics.gauges("formsvc_webhook_deliveries", "Deliveries that are not delivered, by state.", "state", () =>
    countDeliveries(db),
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
      const due = [row?.due_at, oldestQueuedAt(db)].filter((at) => typeof at === "number");
      const overdueMs = clock.now() - Math.min(...due);
      return overdueMs >= 0 ? overdueMs / 1000 : null;
    },
  );
}

function countWebhooks(db: Database): Map<string, number> {
  const counts = new Map<string, number>(WEBHOOK_STATES.map((state) => [state, 0]));
  const webhooks = query.selectFrom("webhook").select(["state", "breaker"]);
  for (const { state, breaker } of db.all(webhooks)) {
    const shown = state === "enabled" && breaker === "open" ? "failing" : state;
    counts.set(shown, (counts.get(shown) ?? 0) + 1);
  }
  return counts;
}

function countDeliveries(db: Database): Map<string, number> {
  const queued: Readonly<Partial<Record<string, number>>> = countQueued(db);
  return new Map(COUNTED_STATES.map((state) => [state, countIn(db, state) + (queued[state] ?? 0)]));
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
