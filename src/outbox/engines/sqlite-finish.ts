import type { SqliteDatabase } from "../../database/sqlite/sqlite-database.ts";
import { LISTED_IDS, listParameter } from "../../database/list-parameter.ts";
import type { Claims } from "../sending/claims.ts";
import { findFormer } from "../sending/former-address.ts";
import {
  changedSituation,
  type RecipientSituation,
  SITUATION_SQL,
  type SituationRow,
  toSituation,
} from "../sending/recipient-situation.ts";
import { settleEnded } from "../sending/settle-attempt.ts";
import type { EndedAttempt, RecordedAttempt, Settlement } from "../sending/transport.ts";

export const FINISH_SQL = {
  recipient: `SELECT ${SITUATION_SQL.columns.join(", ")} FROM recipient WHERE id = ?`,
  delivery: `UPDATE delivery SET state = ?, spent = ?, interruptions = ?, due_at = coalesce(?, due_at), finished_at = ?,
      last_status = coalesce(?, last_status), claimed_at = NULL
    WHERE id = ? AND state = 'sending' AND attempts = ?`,
  members: `UPDATE delivery SET state = ?, spent = ?, interruptions = ?, due_at = coalesce(?, due_at),
      finished_at = ?, last_status = coalesce(?, last_status)
    WHERE id IN ${LISTED_IDS} AND state = 'sending'`,
  attempt: `INSERT INTO attempt (delivery_id, number, started_at, duration_ms, outcome, status, message, answer, is_probe)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
} as const;

/** Records how attempts ended, as `Claims.finish` says. */
export function createFinish(db: SqliteDatabase): Claims["finish"] {
  const selectRecipient = db.prepare(FINISH_SQL.recipient);
  const recordDelivery = createDeliveryRecord(db);
  const updateRecipient = db.prepare(SITUATION_SQL.update);

  const read = (id: string): RecipientSituation | null => {
    const row = selectRecipient.get(id) as SituationRow | undefined;
    return row === undefined ? null : toSituation(row);
  };
  const finish = (
    ended: EndedAttempt,
    recipient: RecipientSituation,
    { isFormer, now }: { readonly isFormer: boolean; readonly now: number },
  ): RecordedAttempt | null => {
    const { delivery } = ended;
    const after = settleEnded(ended, recipient, { isFormer, now });
    if (!recordDelivery(ended, after, now)) return null;
    const changed = changedSituation(delivery.recipientId, recipient, after);
    if (changed !== null) updateRecipient.run(...changed);
    return { before: recipient.recipientState, after };
  };

  return function* (attempts, now) {
    const recipients = new Map<string, RecipientSituation | null>();
    for (const { delivery } of attempts)
      if (!recipients.has(delivery.recipientId))
        recipients.set(delivery.recipientId, read(delivery.recipientId));
    const former = yield* findFormer(attempts, recipients);
    return attempts.map((ended) => {
      const { recipientId } = ended.delivery;
      const recipient = recipients.get(recipientId) ?? null;
      const record = recipient && finish(ended, recipient, { isFormer: former.has(ended), now });
      recipients.set(recipientId, record?.after ?? recipient);
      return record;
    });
  };
}

/**
 * Returns a function that records one attempt. The function returns false, and writes nothing, if the delivery no longer belongs to this
 * attempt.
 */
function createDeliveryRecord(db: SqliteDatabase) {
  const updateDelivery = db.prepare(FINISH_SQL.delivery);
  const updateMembers = db.prepare(FINISH_SQL.members);
  const insertAttempt = db.prepare(FINISH_SQL.attempt);
  return ({ delivery, result }: EndedAttempt, after: Settlement, now: number): boolean => {
    const isDelivered = after.state === "delivered";
    const { state, spent, interruptions, dueAt } = after;
    const values = [state, spent, interruptions, dueAt, isDelivered ? now : null, result.status];
    const { changes } = updateDelivery.run(...values, delivery.id, delivery.attempt);
    // The other messages of a summary are recorded even if the submission of its first message was deleted meanwhile.
    if (delivery.memberIds.length > 0) updateMembers.run(...values, listParameter(delivery.memberIds));
    if (changes === 0) return false;
    insertAttempt.run(
      delivery.id,
      delivery.attempt,
      delivery.claimedAt,
      result.durationMs,
      result.outcome,
      result.status,
      isDelivered ? null : result.message,
      result.answer,
      delivery.isProbe ? 1 : 0,
    );
    return true;
  };
}
