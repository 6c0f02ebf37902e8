import type { Database } from "../database/database.ts";

/** A delivery that is this process's to send. */
export interface ClaimedDelivery {
  readonly id: string;
  readonly webhookId: string;
  /** The number of the attempt that begins now; whoever records its result must name it. */
  readonly attempt: number;
  readonly spent: number;
  readonly interruptions: number;
  readonly isProbe: boolean;
  readonly claimedAt: number;
  readonly body: Buffer;
}

export interface Claims {
  /** When the earliest pending delivery of a webhook is due; null where none is pending. */
  earliestDue(webhookId: string): number | null;
  /** Takes what is due, oldest first. Inside a transaction: nothing is sent that is not on record as being sent. */
  claimDue(webhookId: string, limit: number, now: number): ClaimedDelivery[];
  /** Takes the delivery that waits longest, due or not, to find out whether the receiver is back. */
  claimProbe(webhookId: string, now: number): ClaimedDelivery[];
  /** Undoes claims of which nothing was sent; those that are no longer that attempt's stay as they are. */
  giveBack(deliveries: readonly ClaimedDelivery[]): void;
  /** Brings deliveries back that a wrong clock planned after `latest`. */
  pullForward(webhookId: string, latest: number): void;
}

interface Row {
  readonly id: string;
  readonly attempts: number;
  readonly spent: number;
  readonly interruptions: number;
  readonly body: Buffer;
}

const BODY = "CAST(iif(event.tail IS NULL, event.head, event.head || submission.data || event.tail) AS BLOB)";
const SELECT = `SELECT delivery.id, delivery.attempts, delivery.spent, delivery.interruptions, ${BODY} AS body
  FROM delivery JOIN event ON event.submission_id = delivery.submission_id
    JOIN submission ON submission.id = event.submission_id
  WHERE delivery.webhook_id = ? AND delivery.state = 'pending'`;

export const CLAIM_SQL = {
  earliest: "SELECT min(due_at) AS due FROM delivery WHERE webhook_id = ? AND state = 'pending'",
  due: `${SELECT} AND delivery.due_at <= ? ORDER BY delivery.due_at LIMIT ?`,
  probe: `${SELECT} ORDER BY delivery.due_at LIMIT 1`,
  mark: `UPDATE delivery SET state = 'sending', attempts = attempts + 1, claimed_at = ?, is_probe = ?
    WHERE id = ? AND state = 'pending'`,
  giveBack: `UPDATE delivery SET state = 'pending', attempts = attempts - 1, claimed_at = NULL
    WHERE id = ? AND state = 'sending' AND attempts = ?`,
  pullForward: "UPDATE delivery SET due_at = ? WHERE webhook_id = ? AND state = 'pending' AND due_at > ?",
} as const;

export function createClaims(db: Database): Claims {
  const earliest = db.prepare(CLAIM_SQL.earliest).pluck();
  const selectDue = db.prepare(CLAIM_SQL.due);
  const selectProbe = db.prepare(CLAIM_SQL.probe);
  const mark = db.prepare(CLAIM_SQL.mark);
  const giveBack = db.prepare(CLAIM_SQL.giveBack);
  const pullForward = db.prepare(CLAIM_SQL.pullForward);
  const take = (rows: Row[], webhookId: string, isProbe: boolean, now: number): ClaimedDelivery[] =>
    rows.map(({ id, attempts, spent, interruptions, body }) => {
      mark.run(now, isProbe ? 1 : 0, id);
      return { id, webhookId, attempt: attempts + 1, spent, interruptions, isProbe, claimedAt: now, body };
    });
  return {
    earliestDue: (webhookId) => earliest.get(webhookId) as number | null,
    claimDue: (webhookId, limit, now) =>
      take(selectDue.all(webhookId, now, limit) as Row[], webhookId, false, now),
    claimProbe: (webhookId, now) => take(selectProbe.all(webhookId) as Row[], webhookId, true, now),
    giveBack(deliveries) {
      for (const { id, attempt } of deliveries) giveBack.run(id, attempt);
    },
    pullForward: (webhookId, latest) => void pullForward.run(latest, webhookId, latest),
  };
}
