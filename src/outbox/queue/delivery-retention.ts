import { sql } from "kysely";
import { query } from "../../database/database.ts";
import { all, first, indexedBy, run, type Steps, text, textByEngine } from "../../database/steps.ts";
import { firstIdAt } from "../../foundation/id.ts";
import { BULK_BATCH } from "./delivery.ts";
import { DAY_MS } from "../../foundation/time-units.ts";

/** How long the delivered messages of a kind of recipient are kept. */
export interface KeptDeliveries {
  readonly kind: string;
  /** Days after delivery; null keeps the messages for ever. */
  readonly days: number | null;
}

/** The last message that a clean-up has looked at. Messages are in the order of delivery. */
export interface RetentionCursor {
  readonly at: number;
  readonly id: string;
}

export const BEFORE_ALL: RetentionCursor = { at: 0, id: "" };

/** The result of one batch of the clean-up. */
export interface DroppedDeliveries {
  /** How many messages it looked at; fewer than a batch if there are no more. */
  readonly looked: number;
  readonly last: RetentionCursor;
}

/**
 * Looks at a batch of messages that were delivered more than `days` days ago. Deletes those of the kind with their attempts, and each body
 * that no message needs any more. Held and failed messages stay.
 */
export function* dropOldDeliveries(
  { kind, days }: KeptDeliveries,
  after: RetentionCursor,
  now: number,
): Steps<DroppedDeliveries> {
  const nothing = { looked: 0, last: after };
  if (days === null) return nothing;
  const before = now - days * DAY_MS;
  if ((yield* first(selectOld(after, before).limit(1))) === undefined) return nothing;
  // A message of the same submission may still wait in the outbox and need the body.
  if (yield* isOutboxOlderThan(before)) return nothing;
  const rows = yield* all(selectOld(after, before).limit(BULK_BATCH));
  yield* deleteDeliveries(rows.filter((row) => row.kind === kind));
  const { id = after.id, finished_at: at = null } = rows.at(-1) ?? {};
  return { looked: rows.length, last: { at: at ?? after.at, id } };
}

/**
 * Deletes a batch of failed messages of a kind that were made more than `days` days ago. Only for a kind whose failed messages nobody sends
 * again. Returns the number deleted.
 */
export function* dropOldFailures({ kind, days }: KeptDeliveries, now: number): Steps<number> {
  if (days === null) return 0;
  const before = firstIdAt("msg", now - days * DAY_MS);
  const failed = textByEngine<{ id: string; submission_id: string }>(
    OLD_FAILURES_SQL,
    kind,
    before,
    BULK_BATCH,
  );
  return yield* deleteDeliveries(yield* all(failed));
}

/** The statement names the small index of failed deliveries, because SQLite would otherwise read everything that was ever sent. */
export const OLD_FAILURES_SQL = indexedBy(
  "delivery_failed",
  (indexed) => `SELECT id, submission_id FROM delivery ${indexed}
  WHERE state = 'failed' AND recipient_id IN (SELECT id FROM recipient WHERE kind = ?) AND id < ? LIMIT ?`,
);

function* isOutboxOlderThan(before: number): Steps<boolean> {
  const oldest = query.selectFrom("outbox").select(({ fn }) => fn.min<number | null>("queued_at").as("at"));
  return ((yield* first(oldest))?.at ?? before) < before;
}

export function selectOld(after: RetentionCursor, before: number) {
  return query
    .selectFrom("delivery")
    .innerJoin("recipient", "recipient.id", "delivery.recipient_id")
    .select(["delivery.id", "submission_id", "finished_at", "recipient.kind"])
    .where("delivery.state", "=", sql.lit("delivered"))
    .where("finished_at", "<", before)
    .where(sql<boolean>`(finished_at, delivery.id) > (${after.at}, ${after.id})`)
    .orderBy("finished_at")
    .orderBy("delivery.id");
}

const FORGET_BODY_SQL = `UPDATE submission SET event_head = NULL, event_tail = NULL
  WHERE id = ? AND NOT EXISTS (SELECT 1 FROM delivery WHERE delivery.submission_id = submission.id)`;
const FORGET_UNQUEUED_SQL = `${FORGET_BODY_SQL}
    AND NOT EXISTS (SELECT 1 FROM outbox WHERE messages LIKE '%"' || submission.id || '"%')`;

interface DeletedRow {
  readonly id: string;
  readonly submission_id: string;
}

/**
 * Deletes deliveries of one recipient whose messages are no longer in the outbox. Messages of other recipients may still be in the outbox
 * and need the same bodies, so it is searched for them. Call inside a transaction. Returns the number deleted.
 */
export function* deleteDeliveriesOfOne(rows: readonly DeletedRow[]): Steps<number> {
  return yield* deleteDeliveries(rows, FORGET_UNQUEUED_SQL);
}

function* deleteDeliveries(rows: readonly DeletedRow[], forget = FORGET_BODY_SQL): Steps<number> {
  // Written as SQL text, because building two statements for each row takes longer than running them.
  for (const { id, submission_id: submissionId } of rows) {
    yield* run(text("DELETE FROM delivery WHERE id = ?", id));
    yield* run(text(forget, submissionId));
  }
  return rows.length;
}
