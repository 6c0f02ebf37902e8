import { type Database, query } from "../../database/database.ts";
import { writeSlice } from "../../database/slices.ts";
import { all } from "../../database/steps.ts";
import { BULK_BATCH } from "./delivery.ts";
import { deleteDeliveriesOfOne } from "./delivery-retention.ts";
import { spreadOutbox } from "../sending/spread-outbox.ts";

/**
 * Deletes the messages to a recipient that nobody is sending yet, one batch in each transaction. Call when nothing more is queued for it.
 */
export async function dropWaiting(db: Database, recipientId: string, now: number): Promise<number> {
  await spreadOutbox(db, now);
  const waiting = query
    .selectFrom("delivery")
    .select(["id", "submission_id"])
    .where("recipient_id", "=", recipientId)
    .where("state", "in", ["pending", "held"])
    .limit(BULK_BATCH);
  let dropped = 0;
  for (let some = BULK_BATCH; some === BULK_BATCH; dropped += some)
    some = await writeSlice(db, function* () {
      return yield* deleteDeliveriesOfOne(yield* all(waiting));
    });
  return dropped;
}
