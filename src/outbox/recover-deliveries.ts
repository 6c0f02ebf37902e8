import { sql } from "kysely";
import { query } from "../database/database.ts";
import { all, run, type Steps } from "../database/steps.ts";
import { classify } from "../webhooks/classify.ts";
import { interrupt } from "./settle-attempt.ts";

const INTERRUPTED = classify({
  kind: "error",
  code: "UND_ERR_DESTROYED",
  detail: "the process ended",
  durationMs: 0,
});

/**
 * At start: whatever an earlier process was sending when it ended goes back into the queue, a little later each time in
 * a row. Only one server runs on a database, so nobody else can be sending. The number of deliveries recovered.
 */
export function* recoverDeliveries(scheduleSeconds: readonly number[], now: number): Steps<number> {
  const rows = yield* all(selectSending());
  for (const row of rows) {
    const next = interrupt(row, row.webhook_state, scheduleSeconds, now);
    yield* run(
      query
        .updateTable("delivery")
        .set({
          state: next.state,
          spent: next.spent,
          interruptions: next.interruptions,
          due_at: next.dueAt,
          claimed_at: null,
        })
        .where("id", "=", row.id),
    );
    yield* run(
      query.insertInto("attempt").values({
        delivery_id: row.id,
        number: row.attempts,
        started_at: row.claimed_at ?? now,
        // How long it lasted is not known: the clock also ran while no process did.
        duration_ms: 0,
        outcome: INTERRUPTED.outcome,
        status: null,
        message: INTERRUPTED.message,
        answer: null,
        is_probe: row.is_probe,
      }),
    );
  }
  return rows.length;
}

/** Reads the small index of what is being sent, whatever else the table holds. */
export function selectSending() {
  return query
    .selectFrom("delivery")
    .innerJoin("webhook", "webhook.id", "delivery.webhook_id")
    .select(["delivery.id", "delivery.attempts", "delivery.spent", "delivery.interruptions"])
    .select(["delivery.claimed_at", "delivery.is_probe", "webhook.state as webhook_state"])
    .where("delivery.state", "=", sql.lit("sending"));
}
