import { sql } from "kysely";
import { query } from "../../database/database.ts";
import { run, type Steps } from "../../database/steps.ts";
import type { AbandonedRow } from "./claims.ts";
import { loseEnd } from "./settle-attempt.ts";
import type { Transport } from "./transport.ts";

/**
 * Puts deliveries that a server was sending when it ended back into the queue. A message waits longer after each such end in a row. Returns
 * the number recovered.
 */
export function* recoverDeliveries(
  abandoned: readonly AbandonedRow[],
  transports: readonly Pick<Transport, "kind" | "policy">[],
  now: number,
): Steps<number> {
  let recovered = 0;
  for (const row of abandoned) {
    const transport = transports.find(({ kind }) => kind === row.kind);
    if (transport === undefined) continue;
    const next = loseEnd(row, row.recipient_state, transport.policy, now);
    recovered += 1;
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
    // The attempts of a message that went with another one are recorded with that one.
    if (row.attempts === 0) continue;
    yield* run(
      query.insertInto("attempt").values({
        delivery_id: row.id,
        number: row.attempts,
        started_at: row.claimed_at ?? now,
        // The duration is not known: some of the time since the start passed while no process ran.
        duration_ms: 0,
        outcome: "interrupted",
        status: null,
        message: "The process ended before the answer came.",
        answer: null,
        is_probe: row.is_probe,
      }),
    );
  }
  return recovered;
}

/** Reads only the small index of deliveries that are being sent, however large the table is. */
export function selectSending() {
  return query
    .selectFrom("delivery")
    .innerJoin("recipient", "recipient.id", "delivery.recipient_id")
    .select(["delivery.id", "delivery.attempts", "delivery.spent", "delivery.interruptions"])
    .select([
      "delivery.claimed_at",
      "delivery.is_probe",
      "recipient.state as recipient_state",
      "recipient.kind",
    ])
    .where("delivery.state", "=", sql.lit("sending"));
}
