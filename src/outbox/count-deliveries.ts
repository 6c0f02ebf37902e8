import { sql } from "kysely";
import { query } from "../database/database.ts";
import { first, type Steps, text } from "../database/steps.ts";
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

/** Counting stops here: more is shown as "10,000+". */
const MAX_COUNTED = 10_000;

const FAILED_SQL = "SELECT 1 FROM delivery WHERE state = 'failed'";
const OF_ENDPOINTS_SQL =
  "AND recipient_id IN (SELECT id FROM recipient WHERE endpoint_id IN (SELECT value FROM json_each(?)))";

/**
 * Messages about submissions of these endpoints that ran out of attempts; at most one more than {@link MAX_COUNTED}.
 *
 * @param endpointIds null is every endpoint.
 */
export function* countFailedOf(endpointIds: readonly string[] | null): Steps<number> {
  const count = (some: string): string => `SELECT count(*) AS count FROM (${some} LIMIT ${MAX_COUNTED + 1})`;
  const counted =
    endpointIds === null
      ? text<{ count: number }>(count(FAILED_SQL))
      : text<{ count: number }>(count(`${FAILED_SQL} ${OF_ENDPOINTS_SQL}`), JSON.stringify(endpointIds));
  return (yield* first(counted))?.count ?? 0;
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
