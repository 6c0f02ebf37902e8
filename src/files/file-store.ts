import { type Database, query } from "../database/database.ts";
import { yieldToOthers } from "../database/slices.ts";
import { all, first, run, type Steps, text } from "../database/steps.ts";
import { LISTED_IDS, listParameter } from "../database/list-parameter.ts";
import { deleteNow, listObjectsOf } from "./file-deletions.ts";
import { objectsOf } from "./object-store.ts";
import { HOUR_MS } from "../foundation/time-units.ts";

/** The largest number of chunks deleted in one transaction, 4 MiB. Deleted bytes are overwritten, and posts wait meanwhile. */
const MAX_DELETED_CHUNKS = 16;

/** The bytes of all files, including those that are still being stored. */
export function* countFileBytes(): Steps<number> {
  const counted = text<{ readonly bytes: number }>(
    "SELECT CAST(coalesce(sum(bytes), 0) AS bigint) AS bytes FROM file_total",
  );
  return (yield* first(counted))?.bytes ?? 0;
}

/** The bytes of the files in the object store. */
export function* countObjectBytes(): Steps<number> {
  const sql = "SELECT CAST(coalesce(sum(size), 0) AS bigint) AS bytes FROM file WHERE object_id IS NOT NULL";
  return (yield* first(text<{ readonly bytes: number }>(sql)))?.bytes ?? 0;
}

/** The number of files in the object store. */
export function* countObjects(): Steps<number> {
  const sql = "SELECT count(*) AS files FROM file WHERE object_id IS NOT NULL";
  return (yield* first(text<{ readonly files: number }>(sql)))?.files ?? 0;
}

/** The number of files that should be in the database but whose bytes are incomplete. */
export function* countBrokenFiles(): Steps<number> {
  return (yield* first(text<{ readonly files: number }>(BROKEN_SQL)))?.files ?? 0;
}

/** The number of files whose bytes are missing because this database is a backup without them. */
export function* countLeftOut(): Steps<number> {
  const sql = "SELECT count(*) AS files FROM file WHERE is_left_out = 1";
  return (yield* first(text<{ readonly files: number }>(sql)))?.files ?? 0;
}

/** A file has one chunk for each 262,144 bytes, and one for the rest. */
const BROKEN_SQL = `SELECT count(*) AS files FROM file WHERE state = 'stored' AND is_left_out = 0 AND object_id IS NULL
  AND (size + 262143) / 262144 <> (SELECT count(*) FROM file_chunk WHERE file_id = file.id)`;

/**
 * Deletes up to 16 chunks of files that belong to nothing any more: their submission was deleted, or their post was cut off more than an
 * hour ago. Returns the number of rows deleted.
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

/** Deletes up to 16 chunks of a file, and after the last one the file. Returns the number of rows deleted; 0 if the file is gone. */
function* dropSomeOf(fileId: string): Steps<number> {
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

/** Attaches the files of a held post to its submission, in the transaction that releases the post. */
export function releaseFiles(heldId: string, submissionId: string): Steps<unknown> {
  const given = { submission_id: submissionId, held_id: null, for_held: 0 };
  return run(query.updateTable("file").set(given).where("held_id", "=", heldId));
}

/**
 * Deletes up to 16 chunks of a file whose post failed. If the answer to a commit was lost, the post may be stored nevertheless: then the
 * file stays. If another transaction attaches the file meanwhile, this one runs again. Returns the number of rows deleted.
 */
export function* dropUnstored(fileId: string): Steps<number> {
  const file = yield* first(query.selectFrom("file").select("state").where("id", "=", fileId));
  return file?.state === "storing" ? yield* dropSomeOf(fileId) : 0;
}

const OF_SUBMISSIONS_SQL = `SELECT id FROM file WHERE submission_id IN ${LISTED_IDS} ORDER BY submission_id, id`;

/** The ids of the files of these submissions, ordered by submission. */
export function* listFileIdsOf(submissionIds: readonly string[]): Steps<string[]> {
  if (submissionIds.length === 0) return [];
  const rows = yield* all(text<{ id: string }>(OF_SUBMISSIONS_SQL, listParameter(submissionIds)));
  return rows.map(({ id }) => id);
}

const OF_HELD_SQL = `SELECT id FROM file WHERE held_id IN ${LISTED_IDS} ORDER BY id`;

/** The ids of the files of these held posts. */
export function* listFileIdsOfHeld(heldIds: readonly string[]): Steps<string[]> {
  if (heldIds.length === 0) return [];
  const rows = yield* all(text<{ id: string }>(OF_HELD_SQL, listParameter(heldIds)));
  return rows.map(({ id }) => id);
}

/** Detaches a file from its submission or held post, so that nobody can read it and {@link dropFiles} can delete its bytes. */
export function releaseFile(id: string): Steps<number> {
  return run(query.updateTable("file").set({ submission_id: null, held_id: null }).where("id", "=", id));
}

/**
 * Deletes the bytes of files that belong to nothing any more, in short transactions. A file that was attached meanwhile stays. If this is
 * interrupted, {@link dropLostFiles} deletes the rest; objects that the store did not delete stay in their queue.
 */
export async function dropFiles(db: Database, ids: readonly string[]): Promise<void> {
  const objects = objectsOf(db) === null ? [] : await db.read(() => listObjectsOf(ids));
  for (const id of ids) {
    do await yieldToOthers();
    while ((await db.transaction(() => dropIfLost(id))) > 0);
  }
  await deleteNow(db, objects);
}

function* dropIfLost(id: string): Steps<number> {
  const rows = query.selectFrom("file").select("id").where("id", "=", id);
  const file = yield* first(rows.where("submission_id", "is", null).where("held_id", "is", null));
  return file === undefined ? 0 : yield* dropSomeOf(id);
}

/** Deletes up to 16 chunks of an endpoint's files whose submissions are deleted. Returns the number of rows deleted. */
export function* dropLostFilesOf(endpointId: string): Steps<number> {
  const rows = query.selectFrom("file").select("id").where("endpoint_id", "=", endpointId);
  const lost = rows
    .where("state", "=", "stored")
    .where("submission_id", "is", null)
    .where("held_id", "is", null);
  const file = yield* first(lost.orderBy("id").limit(1));
  return file === undefined ? 0 : yield* dropSomeOf(file.id);
}
