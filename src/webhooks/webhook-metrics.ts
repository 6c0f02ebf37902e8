import { sql } from "kysely";
import { type Database, query } from "../database/database.ts";
import { all, first, type Steps } from "../database/steps.ts";
import type { Clock } from "../foundation/clock.ts";
import type { Metrics } from "../foundation/metrics.ts";
import { countQueued, oldestQueuedAt } from "../outbox/queued-deliveries.ts";

/** Delivered ones are left out: counting them would read the history. */
const COUNTED_STATES = ["pending", "sending", "held", "failed"] as const;

const WEBHOOK_STATES = ["enabled", "disabled", "stopped", "failing"] as const;

export function measureWebhooks(metrics: Metrics, db: Database, clock: Clock): void {
  metrics.gauges(
    "formsvc_webhooks",
    "Webhooks by state; an enabled one that gets probes only counts as failing instead.",
    "state",
    () => db.read(countWebhooks),
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

/** Infinity when nothing waits. */
function* oldestDueAt(): Steps<number> {
  const row = yield* first(
    query
      .selectFrom("delivery")
      .select(({ fn }) => fn.min("due_at").as("due_at"))
      .where("state", "=", sql.lit("pending")),
  );
  const due = [row?.due_at, yield* oldestQueuedAt()];
  return Math.min(...due.filter((at) => typeof at === "number"));
}

function* countWebhooks(): Steps<Map<string, number>> {
  const counts = new Map<string, number>(WEBHOOK_STATES.map((state) => [state, 0]));
  const webhooks = query.selectFrom("webhook").select(["state", "breaker"]);
  for (const { state, breaker } of yield* all(webhooks)) {
    const shown = state === "enabled" && breaker === "open" ? "failing" : state;
    counts.set(shown, (counts.get(shown) ?? 0) + 1);
  }
  return counts;
}

function* countDeliveries(): Steps<Map<string, number>> {
  const queued: Readonly<Partial<Record<string, number>>> = yield* countQueued();
  const counts = new Map<string, number>();
  for (const state of COUNTED_STATES) counts.set(state, (yield* countIn(state)) + (queued[state] ?? 0));
  return counts;
}

/** By the small index of each state. */
function* countIn(state: (typeof COUNTED_STATES)[number]): Steps<number> {
  const counted = yield* first(
    query
      .selectFrom("delivery")
      .select(({ fn }) => fn.countAll<number>().as("deliveries"))
      .where("state", "=", sql.lit(state)),
  );
  return counted?.deliveries ?? 0;
}
