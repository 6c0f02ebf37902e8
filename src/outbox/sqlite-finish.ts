import type { SqliteDatabase } from "../database/sqlite/sqlite-database.ts";
import type { RecipientState } from "./recipient.ts";
import { type AttemptSituation, settleAttempt } from "./settle-attempt.ts";
import type { EndedAttempt, RecordedAttempt, Settlement } from "./transport.ts";

interface RecipientRow {
  readonly state: RecipientState;
  readonly breaker: "closed" | "open" | "ramping";
  readonly breaker_count: number;
  readonly not_before: number;
  readonly gone_at: number | null;
  readonly failing_since: number | null;
  readonly refusals: number;
}

export const FINISH_SQL = {
  recipient:
    "SELECT state, breaker, breaker_count, not_before, gone_at, failing_since, refusals FROM recipient WHERE id = ?",
  delivery: `UPDATE delivery SET state = ?, spent = ?, interruptions = ?, due_at = coalesce(?, due_at), finished_at = ?,
      last_status = coalesce(?, last_status), claimed_at = NULL
    WHERE id = ? AND state = 'sending' AND attempts = ?`,
  members: `UPDATE delivery SET state = ?, spent = ?, interruptions = ?, due_at = coalesce(?, due_at),
      finished_at = ?, last_status = coalesce(?, last_status)
    WHERE id IN (SELECT value FROM json_each(?)) AND state = 'sending'`,
  attempt: `INSERT INTO attempt (delivery_id, number, started_at, duration_ms, outcome, status, message, answer, is_probe)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  breaker: `UPDATE recipient SET state = ?, breaker = ?, breaker_count = ?, not_before = ?, gone_at = ?, failing_since = ?,
      refusals = ? WHERE id = ?`,
} as const;

type Finish = (ended: readonly EndedAttempt[], now: number) => (RecordedAttempt | null)[];

/** Records how attempts ended, as `Claims.finish` says. */
export function createFinish(db: SqliteDatabase): Finish {
  const selectRecipient = db.prepare(FINISH_SQL.recipient);
  const recordDelivery = createDeliveryRecord(db);
  const recordRecipient = createRecipientRecord(db);

  const finish = (
    ended: EndedAttempt,
    recipient: RecipientSituation,
    now: number,
  ): RecordedAttempt | null => {
    const { delivery, result, transport, random } = ended;
    const { spent, interruptions, isProbe } = delivery;
    const situation = { ...recipient, spent, interruptions, isProbe };
    const after = settleAttempt(situation, result, transport.policy, { now, random });
    if (!recordDelivery(ended, after, now)) return null;
    recordRecipient(delivery.recipientId, recipient, after);
    return { before: recipient.recipientState, after };
  };

  return (attempts, now) => {
    const recipients = new Map<string, RecipientSituation | null>();
    return attempts.map((ended) => {
      const { recipientId } = ended.delivery;
      const known = recipients.get(recipientId);
      const recipient = known === undefined ? toSituation(selectRecipient.get(recipientId)) : known;
      const record = recipient && finish(ended, recipient, now);
      recipients.set(recipientId, record?.after ?? recipient);
      return record;
    });
  };
}

/** False when the delivery is no longer this attempt's; nothing is written then. */
function createDeliveryRecord(db: SqliteDatabase) {
  const updateDelivery = db.prepare(FINISH_SQL.delivery);
  const updateMembers = db.prepare(FINISH_SQL.members);
  const insertAttempt = db.prepare(FINISH_SQL.attempt);
  return ({ delivery, result }: EndedAttempt, after: Settlement, now: number): boolean => {
    const isDelivered = after.state === "delivered";
    const { state, spent, interruptions, dueAt } = after;
    const values = [state, spent, interruptions, dueAt, isDelivered ? now : null, result.status];
    const { changes } = updateDelivery.run(...values, delivery.id, delivery.attempt);
    // Even if the submission of the message itself was deleted meanwhile.
    if (delivery.memberIds.length > 0) updateMembers.run(...values, JSON.stringify(delivery.memberIds));
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

/** Most attempts change nothing about their recipient, and then nothing is written. */
function createRecipientRecord(db: SqliteDatabase) {
  const updateRecipient = db.prepare(FINISH_SQL.breaker);
  return (id: string, before: RecipientSituation, after: RecipientSituation): void => {
    const { recipientState, breaker, goneAt, failingSince, refusals } = after;
    const isSame =
      recipientState === before.recipientState &&
      breaker === before.breaker &&
      goneAt === before.goneAt &&
      failingSince === before.failingSince &&
      refusals === before.refusals;
    if (isSame) return;
    const { state, count, notBeforeMs } = breaker;
    updateRecipient.run(recipientState, state, count, notBeforeMs, goneAt, failingSince, refusals, id);
  };
}

type RecipientSituation = Pick<
  AttemptSituation,
  "recipientState" | "breaker" | "goneAt" | "failingSince" | "refusals"
>;

function toSituation(row: unknown): RecipientSituation | null {
  if (row === undefined) return null;
  const { state, breaker, breaker_count: count, not_before: notBeforeMs, ...rest } = row as RecipientRow;
  return {
    recipientState: state,
    breaker: { state: breaker, count, notBeforeMs },
    goneAt: rest.gone_at,
    failingSince: rest.failing_since,
    refusals: rest.refusals,
  };
}
