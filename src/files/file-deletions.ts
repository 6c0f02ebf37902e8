import { type Database, query } from "../database/database.ts";
import { all, first, run, type Steps, text } from "../database/steps.ts";
import { LISTED_IDS, listParameter } from "../database/list-parameter.ts";
import { doubled, type Doubling } from "../foundation/doubling.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { HOUR_MS } from "../foundation/time-units.ts";
import { objectsOf } from "./object-store.ts";

/*
 * The queue of objects whose file is deleted. A trigger adds each object in the transaction that deletes its file. It stays in the queue
 * until the store has deleted it.
 */

/** The largest number of deletions in one round of the queue. */
const MAX_AT_ONCE = 50;
/** A round ends after this time, because a server that stops waits for its end, and a slow store may take seconds for each object. */
const ROUND_MS = 2000;
/** The waits of an object after the store failed to delete it. */
const RETRIES: Doubling = { firstMs: 30_000, longestMs: HOUR_MS };

interface DueObject {
  readonly object_id: string;
  readonly was_stored: number;
  readonly attempts: number;
}

/** The objects that wait to be deleted. */
export interface WaitingDeletions {
  readonly objects: number;
  /** The time when the file of the oldest one was deleted, in milliseconds; null if none waits. */
  readonly since: number | null;
}

const WAITING_SQL =
  "SELECT count(*) AS objects, min(lost_at) AS since FROM file_deletion WHERE next_at <= ? OR attempts > 0";

/**
 * Counts the objects that wait for their first attempt or whose deletion failed. An object that is only deleted a second time, to be sure,
 * is not counted.
 */
export function* countDeletions(now: number): Steps<WaitingDeletions> {
  return (yield* first(text<WaitingDeletions>(WAITING_SQL, now))) ?? { objects: 0, since: null };
}

/** Returns the ids of the objects of these files. */
export function* listObjectsOf(fileIds: readonly string[]): Steps<string[]> {
  if (fileIds.length === 0) return [];
  const sql = `SELECT object_id AS id FROM file
    WHERE object_id IS NOT NULL AND id IN ${LISTED_IDS}`;
  return (yield* all(text<{ id: string }>(sql, listParameter(fileIds)))).map(({ id }) => id);
}

/**
 * Deletes objects that are due. Returns the number deleted; 0 also if the store does not answer, and then the object waits longer each
 * time.
 *
 * @param now in milliseconds since 1970 UTC
 */
export async function deleteWaiting(db: Database, now: number): Promise<number> {
  const store = objectsOf(db);
  if (store === null) return 0;
  const due = await db.read(() => listDue(now));
  // Nothing is due, but the store failed before: asks whether it works again.
  if (due.length === 0 && store.fault !== null) await store.probe();
  const endsAt = performance.now() + ROUND_MS;
  let deleted = 0;
  for (const object of due) {
    if (performance.now() > endsAt) break;
    try {
      await store.remove(object.object_id);
    } catch (error) {
      if (!(error instanceof FormsvcError)) throw error;
      await db.relaxedTransaction(() => postpone(object, now));
      return 0;
    }
    await db.relaxedTransaction(() => settle(object, now));
    deleted += 1;
  }
  return deleted;
}

/** Nothing waits longer than the longest of {@link RETRIES}, so what is due later was planned by a clock that was ahead. It is due now. */
function listDue(now: number): Steps<DueObject[]> {
  const rows = query.selectFrom("file_deletion").select(["object_id", "was_stored", "attempts"]);
  const due = rows.where((is) =>
    is.or([is("next_at", "<=", now), is("next_at", ">", now + RETRIES.longestMs)]),
  );
  return all(due.orderBy("next_at").limit(MAX_AT_ONCE));
}

/**
 * Removes an object from the queue. If its post was cut off, its bytes may still be on their way to the store: then it is deleted a second
 * time, after an hour.
 */
function* settle({ object_id: id, was_stored: wasStored }: DueObject, now: number): Steps<void> {
  const rows = query.deleteFrom("file_deletion").where("object_id", "=", id);
  if (wasStored === 1) yield* run(rows);
  else
    yield* run(
      query
        .updateTable("file_deletion")
        .set({ was_stored: 1, attempts: 0, next_at: now + RETRIES.longestMs })
        .where("object_id", "=", id),
    );
}

function postpone({ object_id: id, attempts }: DueObject, now: number): Steps<number> {
  const wait = doubled(RETRIES, attempts);
  return run(
    query
      .updateTable("file_deletion")
      .set({ attempts: attempts + 1, next_at: now + wait })
      .where("object_id", "=", id),
  );
}

/** Deletes objects whose files are deleted. If the store does not answer, the rest stays in the queue. */
export async function deleteNow(db: Database, objectIds: readonly string[]): Promise<void> {
  const store = objectsOf(db);
  if (store === null) return;
  for (const id of objectIds) {
    const waits = await db.read(() =>
      first(
        query
          .selectFrom("file_deletion")
          .select("object_id")
          .where("object_id", "=", id)
          .where("was_stored", "=", 1),
      ),
    );
    if (waits === undefined) continue;
    try {
      await store.remove(id);
    } catch (error) {
      if (error instanceof FormsvcError) return;
      throw error;
    }
    await db.relaxedTransaction(() => run(query.deleteFrom("file_deletion").where("object_id", "=", id)));
  }
}
