import { createHash } from "node:crypto";
import { query } from "../../database/database.ts";
import { deleteSome } from "../../database/some-rows.ts";
import { first, run, type Steps, text, textByEngine } from "../../database/steps.ts";
import { BULK_BATCH } from "./delivery.ts";
import { DAY_MS } from "../../foundation/time-units.ts";

/** A limit on the messages that a person or a thing may cause within a time. */
export interface Quota {
  /** SHA-256 of the name of the person or thing. */
  readonly key: Buffer;
  readonly most: number;
  readonly ms: number;
}

/** The longest time of any quota. A use that expires later was counted by a clock that was ahead. */
const LONGEST_MS = DAY_MS;

/** The key of a quota. @param unit the type of the thing, so that equal names of different types give different keys. */
export function quotaKey(unit: string, name: string): Buffer {
  return createHash("sha256").update(`${unit} ${name}`).digest();
}

/** Whether one more message is within all of these quotas. */
export function* isWithin(quotas: readonly Quota[], now: number): Steps<boolean> {
  for (const { key, most, ms } of quotas) {
    const used = yield* first(text<{ count: number }>(COUNT_USE_SQL, key, now, now + ms));
    if ((used?.count ?? 0) >= most) return false;
  }
  return true;
}

/**
 * Counts a message against all of these quotas. Call in the transaction that queues it.
 *
 * @param aboutId the id of the submission that the message is about, or of the message itself.
 */
export function* countUse(quotas: readonly Quota[], aboutId: string, now: number): Steps<void> {
  for (const { key, ms } of quotas) yield* run(text(INSERT_USE_SQL, key, now + ms, aboutId));
}

/** When a full quota has room again, in milliseconds since 1970. It may be more than full, if one action counted many messages. */
export function* freeAgainAt({ key, most, ms }: Quota, now: number): Steps<number> {
  const row = yield* first(text<{ at: number }>(LAST_IN_WAY_SQL, key, now, now + ms, most - 1));
  return row?.at ?? now;
}

/** When it expires, one use less than the quota allows is left. */
const LAST_IN_WAY_SQL = `SELECT expires_at AS at FROM quota_use WHERE key = ? AND expires_at > ? AND expires_at <= ?
  ORDER BY expires_at DESC LIMIT 1 OFFSET ?`;

export const COUNT_USE_SQL =
  "SELECT count(*) AS count FROM quota_use WHERE key = ? AND expires_at > ? AND expires_at <= ?";
const INSERT_USE_SQL = "INSERT INTO quota_use (key, expires_at, submission_id) VALUES (?, ?, ?)";

/** Deletes the counted uses of a submission's messages, to erase a person. */
export function* forgetUse(submissionId: string): Steps<void> {
  yield* run(query.deleteFrom("quota_use").where("submission_id", "=", submissionId));
}

/** Deletes a batch of uses that have expired, or that a clock that was ahead has counted. Returns the number deleted. */
export function* dropOldUse(now: number): Steps<number> {
  return yield* run(textByEngine(DROP_OLD_USE_SQL, now, now + LONGEST_MS, BULK_BATCH));
}

export const DROP_OLD_USE_SQL = deleteSome(
  "quota_use",
  ["key", "expires_at", "submission_id"],
  (key) => `SELECT ${key} FROM quota_use WHERE expires_at <= ? OR expires_at > ? LIMIT ?`,
);
