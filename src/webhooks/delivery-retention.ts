import { sql } from "kysely";
import { type Database, query } from "../database/database.ts";
import { BULK_BATCH } from "./delivery.ts";

const DAY_MS = 86_400_000;

/**
 * Deletes a batch of messages delivered more than so many days ago, with their attempts, and bodies that no message
 * needs any more. What is held or failed stays. The number of messages deleted; a full batch means there may be more.
 */
export function dropOldDeliveries(db: Database, keepDays: number | null, now: number): number {
  if (keepDays === null) return 0;
  const before = now - keepDays * DAY_MS;
  if (db.first(selectOld(before).limit(1)) === undefined) return 0;
  // One of the same submission's may still wait there, and needs the body.
  if (isOutboxOlderThan(db, before)) return 0;
  return db.transaction(() => deleteDeliveries(db, db.all(selectOld(before).limit(BULK_BATCH))));
}

function isOutboxOlderThan(db: Database, before: number): boolean {
  const oldest = query.selectFrom("outbox").select(({ fn }) => fn.min<number | null>("queued_at").as("at"));
  return (db.first(oldest)?.at ?? before) < before;
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
export function deleteDeliveries(
  db: Database,
  rows: readonly { readonly id: string; readonly submission_id: string }[],
): number {
  for (const { id, submission_id: submissionId } of rows) {
    db.run(query.deleteFrom("delivery").where("id", "=", id));
    db.run(
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
