import { sql } from "kysely";
import { query } from "../database/database.ts";
import { first, type Steps } from "../database/steps.ts";
import { countQueued, oldestQueuedAt } from "./queued-deliveries.ts";

/** Delivered ones are left out: counting them would read the history. */
const COUNTED_STATES = ["pending", "sending", "held", "failed"] as const;
type CountedState = (typeof COUNTED_STATES)[number];

/** Deliveries by state, those in the outbox too. */
export function* countDeliveries(): Steps<Map<string, number>> {
  const queued: Readonly<Partial<Record<string, number>>> = yield* countQueued();
  const counts = new Map<string, number>();
  for (const state of COUNTED_STATES) counts.set(state, (yield* countIn(state)) + (queued[state] ?? 0));
  return counts;
}

/** Deliveries that ran out of attempts and wait for somebody to replay them. */
export function countFailed(): Steps<number> {
  return countIn("failed");
}

/** When the delivery that waits longest was due; infinity when nothing waits. */
export function* oldestDueAt(): Steps<number> {
  const row = yield* first(
    query
      .selectFrom("delivery")
      .select(({ fn }) => fn.min("due_at").as("due_at"))
      .where("state", "=", sql.lit("pending")),
  );
  const due = [row?.due_at, yield* oldestQueuedAt()];
  return Math.min(...due.filter((at) => typeof at === "number"));
}

/** By the small index of each state. */
function* countIn(state: CountedState): Steps<number> {
  const counted = yield* first(
    query
      .selectFrom("delivery")
      .select(({ fn }) => fn.countAll<number>().as("deliveries"))
      .where("state", "=", sql.lit(state)),
  );
  return counted?.deliveries ?? 0;
}
