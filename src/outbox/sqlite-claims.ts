import type { SqliteDatabase } from "../database/sqlite/sqlite-database.ts";
import { ALONE, type ClaimedDelivery, type Claims } from "./claims.ts";
import type { QueuedMessage } from "./outbox.ts";

export interface ClaimableRow {
  readonly id: string;
  readonly attempts: number;
  readonly spent: number;
  readonly interruptions: number;
  readonly body: Buffer;
}

/**
 * For a parameter that is a limit, or is compared with a column whose index is not unique. SQLite estimates rows by the value of a plain
 * `?` there, and compiles the statement again for each call: that took up to 60 µs, ten times as long as the statement itself.
 */
export const TEXT_PARAMETER = "CAST(? AS TEXT)";
export const LIMIT_PARAMETER = "CAST(? AS INTEGER)";

const BODY = "CAST(iif(event_tail IS NULL, event_head, event_head || submission.data || event_tail) AS BLOB)";
interface OutboxRow {
  readonly number: number;
  readonly queued_at: number;
  readonly message_count: number;
  readonly messages: string;
}

/** Null if the submission was deleted meanwhile: then nothing is sent about it. */
interface QueuedBody {
  readonly id: string;
  readonly submission_id: string;
  readonly body: Buffer | null;
}

/** Messages of a recipient that may be claimed; those that go with another one follow it. */
export const CLAIMABLE_SQL = `SELECT delivery.id, delivery.attempts, delivery.spent, delivery.interruptions, ${BODY} AS body
  FROM delivery JOIN submission ON submission.id = delivery.submission_id
  WHERE delivery.recipient_id = ${TEXT_PARAMETER} AND delivery.state = 'pending' AND delivery.lead_id IS NULL`;

export const CLAIM_SQL = {
  earliest: `SELECT min(due_at) AS due FROM delivery
    WHERE recipient_id = ${TEXT_PARAMETER} AND state = 'pending' AND lead_id IS NULL`,
  due: `${CLAIMABLE_SQL} AND delivery.due_at <= ? ORDER BY delivery.due_at LIMIT ${LIMIT_PARAMETER}`,
  probe: `${CLAIMABLE_SQL} ORDER BY delivery.due_at LIMIT 1`,
  mark: `UPDATE delivery SET state = 'sending', attempts = attempts + 1, claimed_at = ?, is_probe = ?
    WHERE id = ? AND state = 'pending'`,
  giveBack: `UPDATE delivery SET state = 'pending', attempts = attempts - 1, claimed_at = NULL
    WHERE id = ? AND state = 'sending' AND attempts = ?`,
  queuedAt: `SELECT queued_at FROM outbox WHERE recipient_id = ${TEXT_PARAMETER} ORDER BY number LIMIT 1`,
  queued: `SELECT number, queued_at, message_count, messages FROM outbox
    WHERE recipient_id = ${TEXT_PARAMETER} ORDER BY number LIMIT 1`,
  // One statement for all of a row's messages takes half as long as one for each.
  bodies: `SELECT message.value ->> 0 AS id, message.value ->> 1 AS submission_id, ${BODY} AS body
    FROM json_each(?) AS message LEFT JOIN submission ON submission.id = message.value ->> 1
    LIMIT ${LIMIT_PARAMETER}`,
  insert: `INSERT INTO delivery (id, submission_id, recipient_id, state, attempts, due_at, claimed_at, is_probe)
    VALUES (?, ?, ?, 'sending', 1, ?, ?, ?)`,
  deleteRow: "DELETE FROM outbox WHERE number = ?",
  shortenRow: "UPDATE outbox SET message_count = ?, messages = ? WHERE number = ?",
  pullForward: `UPDATE delivery SET due_at = ?
    WHERE recipient_id = ? AND state = 'pending' AND lead_id IS NULL AND due_at > ?`,
} as const;

export function createClaims(db: SqliteDatabase): Claims {
  const earliest = db.prepare(CLAIM_SQL.earliest).pluck();
  const selectDue = db.prepare(CLAIM_SQL.due);
  const selectProbe = db.prepare(CLAIM_SQL.probe);
  const mark = db.prepare(CLAIM_SQL.mark);
  const giveBack = db.prepare(CLAIM_SQL.giveBack);
  const pullForward = db.prepare(CLAIM_SQL.pullForward);
  const queuedAt = db.prepare(CLAIM_SQL.queuedAt).pluck();
  const takeQueued = createQueuedClaim(db);
  const take = (
    rows: ClaimableRow[],
    recipientId: string,
    isProbe: boolean,
    now: number,
  ): ClaimedDelivery[] =>
    rows.map(({ id, attempts, spent, interruptions, body }) => {
      mark.run(now, isProbe ? 1 : 0, id);
      const before = { attempt: attempts + 1, spent, interruptions };
      return { id, recipientId, ...before, isProbe, claimedAt: now, body, ...ALONE };
    });
  const queuedSince = (recipientId: string): number | null =>
    (queuedAt.get(recipientId) as number | undefined) ?? null;
  const pendingSince = (recipientId: string): number | null => earliest.get(recipientId) as number | null;
  return {
    earliestDue: (recipientId) => (queuedSince(recipientId) === null ? pendingSince(recipientId) : 0),
    claimDue(recipientId, limit, now) {
      const due = take(selectDue.all(recipientId, now, limit) as ClaimableRow[], recipientId, false, now);
      return due.length < limit ? [...due, ...takeQueued(recipientId, limit - due.length, false, now)] : due;
    },
    claimProbe(recipientId, now) {
      const queued = queuedSince(recipientId);
      const due = pendingSince(recipientId);
      const isQueuedFirst = queued !== null && (due === null || queued < due);
      return isQueuedFirst
        ? takeQueued(recipientId, 1, true, now)
        : take(selectProbe.all(recipientId) as ClaimableRow[], recipientId, true, now);
    },
    giveBack(deliveries) {
      for (const { id, attempt } of deliveries) giveBack.run(id, attempt);
    },
    pullForward: (recipientId, latest) => void pullForward.run(latest, recipientId, latest),
  };
}

export type QueuedClaim = (
  recipientId: string,
  limit: number,
  isProbe: boolean,
  now: number,
) => ClaimedDelivery[];

/** Claims the oldest messages in the outbox: they become deliveries that are being sent already. */
export function createQueuedClaim(db: SqliteDatabase): QueuedClaim {
  const selectRow = db.prepare(CLAIM_SQL.queued);
  const selectBodies = db.prepare(CLAIM_SQL.bodies);
  const insert = db.prepare(CLAIM_SQL.insert);
  const deleteRow = db.prepare(CLAIM_SQL.deleteRow);
  const shortenRow = db.prepare(CLAIM_SQL.shortenRow);
  return (recipientId, limit, isProbe, now) => {
    const claimed: ClaimedDelivery[] = [];
    while (claimed.length < limit) {
      const row = selectRow.get(recipientId) as OutboxRow | undefined;
      if (row === undefined) break;
      const taken = selectBodies.all(row.messages, limit - claimed.length) as QueuedBody[];
      for (const { id, submission_id: submissionId, body } of taken) {
        if (body === null) continue;
        insert.run(id, submissionId, recipientId, row.queued_at, now, isProbe ? 1 : 0);
        claimed.push({
          id,
          recipientId,
          attempt: 1,
          spent: 0,
          interruptions: 0,
          isProbe,
          claimedAt: now,
          body,
          ...ALONE,
        });
      }
      const left = row.message_count - taken.length;
      if (left <= 0) deleteRow.run(row.number);
      else shortenRow.run(left, JSON.stringify(lastMessages(row, left)), row.number);
    }
    return claimed;
  };
}

function lastMessages({ messages }: OutboxRow, count: number): readonly QueuedMessage[] {
  return (JSON.parse(messages) as readonly QueuedMessage[]).slice(-count);
}
