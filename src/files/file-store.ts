import { query } from "../database/database.ts";
import { first, run, type Steps, text } from "../database/steps.ts";

const HOUR_MS = 3_600_000;
/** Chunks deleted in one transaction, 4 MiB: deleted bytes are overwritten, and posts wait meanwhile. */
const MAX_DELETED_CHUNKS = 16;

/** Bytes of all files, those that are being stored included. */
export function* countFileBytes(): Steps<number> {
  const counted = text<{ readonly bytes: number }>(
    "SELECT CAST(coalesce(sum(bytes), 0) AS bigint) AS bytes FROM file_total",
  );
  return (yield* first(counted))?.bytes ?? 0;
}

/**
 * Deletes up to 16 chunks of files that belong to nothing any more: their submission is gone, or their post was cut off more than an hour
 * ago. Returns how many rows it deleted.
 */
export function* dropLostFiles(now: number): Steps<number> {
  const lost = yield* first(
    query
      .selectFrom("file")
      .select("id")
      .where("submission_id", "is", null)
      .where("held_id", "is", null)
      .where((is) => is.or([is("state", "=", "stored"), is("created_at", "<", now - HOUR_MS)]))
      .limit(1),
  );
  return lost === undefined ? 0 : yield* dropSomeOf(lost.id);
}

/** Deletes up to 16 chunks of a file, and then the file. Returns how many rows it deleted; 0 if there is nothing left of it. */
export function* dropSomeOf(fileId: string): Steps<number> {
  const some = query
    .selectFrom("file_chunk")
    .select("position")
    .where("file_id", "=", fileId)
    .orderBy("position")
    .limit(MAX_DELETED_CHUNKS);
  const dropped = yield* run(
    query.deleteFrom("file_chunk").where("file_id", "=", fileId).where("position", "in", some),
  );
  if (dropped === MAX_DELETED_CHUNKS) return dropped;
  return dropped + (yield* run(query.deleteFrom("file").where("id", "=", fileId)));
}

/**
 * Deletes up to 16 chunks of a file whose post failed. A commit that nobody heard may have stored the post all the same: its file stays,
 * and a transaction that gives the file away meanwhile makes this one run again. Returns how many rows it deleted.
 */
export function* dropUnstored(fileId: string): Steps<number> {
  const file = yield* first(query.selectFrom("file").select("state").where("id", "=", fileId));
  return file?.state === "storing" ? yield* dropSomeOf(fileId) : 0;
}
