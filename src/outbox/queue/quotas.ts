import { createHash } from "node:crypto";
import { sql } from "kysely";
import { query } from "../../database/database.ts";
import { first, run, type Steps, text } from "../../database/steps.ts";
import { BULK_BATCH } from "./delivery.ts";

/** How many messages somebody or something may cause in a time. */
export interface Quota {
  /** SHA-256 of whom or what the limit is for. */
  readonly key: Buffer;
  readonly most: number;
  readonly ms: number;
}

/** No quota is for a longer time, so a use that ends later was counted by a wrong clock. */
const LONGEST_MS = 86_400_000;

/** @param unit what kind of thing it is, so that equal names of different things are different keys. */
export function quotaKey(unit: string, name: string): Buffer {
  return createHash("sha256").update(`${unit} ${name}`).digest();
}

/** Whether one more message is within all of these. */
export function* isWithin(quotas: readonly Quota[], now: number): Steps<boolean> {
  for (const { key, most, ms } of quotas) {
    const used = yield* first(text<{ count: number }>(COUNT_USE_SQL, key, now, now + ms));
    if ((used?.count ?? 0) >= most) return false;
  }
  return true;
}

/**
 * Counts a message against all of these; in the transaction that queues it.
 *
 * @param aboutId the submission that it is about, or the message's own id.
 */
export function* countUse(quotas: readonly Quota[], aboutId: string, now: number): Steps<void> {
  for (const { key, ms } of quotas) yield* run(text(INSERT_USE_SQL, key, now + ms, aboutId));
}

/** When a quota that is full has room again. */
export function* freeAgainAt({ key, ms }: Quota, now: number): Steps<number> {
  const sql =
    "SELECT min(expires_at) AS at FROM quota_use WHERE key = ? AND expires_at > ? AND expires_at <= ?";
  const row = yield* first(text<{ at: number | null }>(sql, key, now, now + ms));
  return row?.at ?? now;
}

export const COUNT_USE_SQL =
  "SELECT count(*) AS count FROM quota_use WHERE key = ? AND expires_at > ? AND expires_at <= ?";
const INSERT_USE_SQL = "INSERT INTO quota_use (key, expires_at, submission_id) VALUES (?, ?, ?)";

/** Forgets what was counted for messages about a submission: for the person who is to be erased. */
export function* forgetUse(submissionId: string): Steps<void> {
  yield* run(query.deleteFrom("quota_use").where("submission_id", "=", submissionId));
}

/** Deletes a batch of what counts no more, and of what a wrong clock counted. Returns how many. */
export function* dropOldUse(now: number): Steps<number> {
  const old = sql<boolean>`(key, expires_at, submission_id) IN (${selectOldUse(now)})`;
  return yield* run(query.deleteFrom("quota_use").where(old));
}

export function selectOldUse(now: number) {
  return query
    .selectFrom("quota_use")
    .select(["key", "expires_at", "submission_id"])
    .where((eb) => eb.or([eb("expires_at", "<=", now), eb("expires_at", ">", now + LONGEST_MS)]))
    .limit(BULK_BATCH);
}
