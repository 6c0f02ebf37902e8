import { sql } from "kysely";
import { query } from "../database/database.ts";
import { all, first, run, type Steps } from "../database/steps.ts";
import { BULK_BATCH } from "./delivery.ts";

const DAY_MS = 86_400_000;

/**
 * Deletes a batch of messages that were delivered more than this number of days ago, with their attempts, and bodies that no
 * message needs any more. Held and failed ones stay. Returns how many messages; a full batch means there may be more.
 */
export function* dropOldDeliveries(keepDays: number | null, now: number): Steps<number> {
  if (keepDays === null) return 0;
  const before = now - keepDays * DAY_MS;
  if ((yield* first(selectOld(before).limit(1))) === undefined) return 0;
  // A message of the same submission may still wait in the outbox and need the body.
  if (yield* isOutboxOlderThan(before)) return 0;
  return yield* deleteDeliveries(yield* all(selectOld(before).limit(BULK_BATCH)));
}

function* isOutboxOlderThan(before: number): Steps<boolean> {
  const oldest = query.selectFrom("outbox").select(({ fn }) => fn.min<number | null>("queued_at").as("at"));
  return ((yield* first(oldest))?.at ?? before) < before;
}

export function selectOld(before: number) {
  return query
    .selectFrom("delivery")
    .select(["id", "submission_id"])
    .where("state", "=", sql.lit("delivered"))
    .where("finished_at", "<", before)
    .orderBy("finished_at");
}

/** Inside a transaction. The number deleted. */
export function* deleteDeliveries(
  rows: readonly { readonly id: string; readonly submission_id: string }[],
): Steps<number> {
  for (const { id, submission_id: submissionId } of rows) {
    yield* run(query.deleteFrom("delivery").where("id", "=", id));
    yield* run(
      query
        .updateTable("submission")
        .set({ event_head: null, event_tail: null })
        .where("id", "=", submissionId)
        .where((eb) =>
          eb.not(
            eb.exists(
              eb.selectFrom("delivery").select("delivery.id").where("submission_id", "=", submissionId),
            ),
          ),
        ),
    );
  }
  return rows.length;
}
