import type { Database } from "../database/database.ts";
import type { ClaimedDelivery } from "./claim-delivery.ts";
import { classify, type Verdict } from "./classify.ts";
import { parseRetryAfter } from "./retry-schedule.ts";
import type { SendResult } from "./send.ts";
import { settleAttempt, type Settlement } from "./settle-attempt.ts";
import type { DeliverySettings, WebhookState } from "./webhook.ts";

/** An attempt that has ended and is not on record yet. */
export interface EndedAttempt {
  readonly delivery: ClaimedDelivery;
  readonly result: SendResult;
  /** From 0 up to 1; drawn when the attempt ended, so that recording it again gives the same plan. */
  readonly random: number;
}

export interface RecordedAttempt {
  readonly verdict: Verdict;
  readonly before: WebhookState;
  readonly after: Settlement;
}

/**
 * Records how an attempt ended, inside a transaction. Null when the delivery is no longer this attempt's: it was
 * deleted with its submission or webhook, or replayed.
 */
export type FinishAttempt = (ended: EndedAttempt, now: number) => RecordedAttempt | null;

interface WebhookRow {
  readonly state: WebhookState;
  readonly breaker: "closed" | "open" | "ramping";
  readonly breaker_count: number;
  readonly not_before: number;
  readonly gone_at: number | null;
  readonly failing_since: number | null;
}

export const FINISH_SQL = {
  webhook:
    "SELECT state, breaker, breaker_count, not_before, gone_at, failing_since FROM webhook WHERE id = ?",
  delivery: `UPDATE delivery SET state = ?, spent = ?, interruptions = ?, due_at = ?, finished_at = ?,
      last_status = coalesce(?, last_status), claimed_at = NULL
    WHERE id = ? AND state = 'sending' AND attempts = ?`,
  attempt: `INSERT INTO attempt (delivery_id, number, started_at, duration_ms, outcome, status, message, answer, is_probe)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  health: `UPDATE webhook SET state = ?, breaker = ?, breaker_count = ?, not_before = ?, gone_at = ?, failing_since = ?
    WHERE id = ?`,
} as const;

export function createFinishAttempt(db: Database, settings: DeliverySettings): FinishAttempt {
  const selectWebhook = db.prepare(FINISH_SQL.webhook);
  const updateDelivery = db.prepare(FINISH_SQL.delivery);
  const insertAttempt = db.prepare(FINISH_SQL.attempt);
  const updateWebhook = db.prepare(FINISH_SQL.health);

  const writeWebhook = (id: string, row: WebhookRow, after: Settlement): void => {
    const { breaker, count, notBeforeMs } = after.health;
    const isSame =
      after.webhookState === row.state &&
      breaker === row.breaker &&
      count === row.breaker_count &&
      notBeforeMs === row.not_before &&
      after.goneAt === row.gone_at &&
      after.failingSince === row.failing_since;
    if (isSame) return;
    updateWebhook.run(after.webhookState, breaker, count, notBeforeMs, after.goneAt, after.failingSince, id);
  };

  return ({ delivery, result, random }, now) => {
    const row = selectWebhook.get(delivery.webhookId) as WebhookRow | undefined;
    if (row === undefined) return null;
    const verdict = classify(result);
    const answered = result.kind === "answer" ? result : null;
    const retryAfterMs = parseRetryAfter(answered?.retryAfter ?? null, now);
    const situation = {
      spent: delivery.spent,
      interruptions: delivery.interruptions,
      isProbe: delivery.isProbe,
      webhookState: row.state,
      health: { breaker: row.breaker, count: row.breaker_count, notBeforeMs: row.not_before },
      goneAt: row.gone_at,
      failingSince: row.failing_since,
    };
    const after = settleAttempt(situation, verdict, retryAfterMs, settings, now, random);
    const isDelivered = after.state === "delivered";
    const status = answered?.status ?? null;
    const { changes: changed } = updateDelivery.run(
      after.state,
      after.spent,
      after.interruptions,
      after.dueAt,
      isDelivered ? now : null,
      status,
      delivery.id,
      delivery.attempt,
    );
    if (changed === 0) return null;
    insertAttempt.run(
      delivery.id,
      delivery.attempt,
      delivery.claimedAt,
      result.durationMs,
      verdict.outcome,
      status,
      isDelivered ? null : verdict.message,
      answered?.bodyStart || null,
      delivery.isProbe ? 1 : 0,
    );
    writeWebhook(delivery.webhookId, row, after);
    return { verdict, before: row.state, after };
  };
}
