import { sql } from "kysely";
import { query } from "../../database/database.ts";
import { LISTED_IDS, listedIds, listParameter } from "../../database/list-parameter.ts";
import { run, type Steps, text } from "../../database/steps.ts";
import type { AbandonedRow } from "./claims.ts";
import { loseEnd } from "./settle-attempt.ts";
import type { Transport } from "./transport.ts";

/** The duration is not known: some of the time since the start passed while no process ran. */
const LOG_SQL = `INSERT INTO attempt (delivery_id, number, started_at, duration_ms, outcome, message, is_probe)
  SELECT id, attempts, coalesce(claimed_at, CAST(? AS bigint)), 0, 'interrupted', 'The process ended before the answer came.', is_probe
  FROM delivery WHERE id IN ${LISTED_IDS}`;

/**
 * Puts deliveries that a server was sending when it ended back into the queue. A message waits longer after each such end in a row. Returns
 * the number recovered.
 *
 * A lost server may have claimed a thousand of them. With statements for each, this transaction took a minute over a slow network, and
 * meanwhile nothing was sent.
 */
export function* recoverDeliveries(
  abandoned: readonly AbandonedRow[],
  transports: readonly Pick<Transport, "kind" | "policy">[],
  now: number,
): Steps<number> {
  const recovered = abandoned.flatMap((row) => {
    const policy = transports.find(({ kind }) => kind === row.kind)?.policy;
    return policy === undefined ? [] : [{ row, next: loseEnd(row, row.recipient_state, policy, now) }];
  });
  // The attempts of a message that went with another one are recorded with that one.
  const begun = recovered.filter(({ row }) => row.attempts > 0).map(({ row }) => row.id);
  if (begun.length > 0) yield* run(text(LOG_SQL, now, listParameter(begun)));
  for (const alike of Map.groupBy(recovered, ({ next }) => JSON.stringify(next)).values()) {
    const [{ next }] = alike as [(typeof alike)[number]];
    const { state, spent, interruptions, dueAt } = next;
    yield* run(
      query
        .updateTable("delivery")
        .set({ state, spent, interruptions, due_at: dueAt, claimed_at: null })
        .where("id", "in", listedIds(alike.map(({ row }) => row.id))),
    );
  }
  return recovered.length;
}

/** Reads only the small index of deliveries that are being sent, however large the table is. */
export function selectSending() {
  return query
    .selectFrom("delivery")
    .innerJoin("recipient", "recipient.id", "delivery.recipient_id")
    .select(["delivery.id", "delivery.attempts", "delivery.spent", "delivery.interruptions"])
    .select(["recipient.state as recipient_state", "recipient.kind"])
    .where("delivery.state", "=", sql.lit("sending"));
}
