import type { SqliteDatabase } from "../database/sqlite/sqlite-database.ts";
import type { ClaimedDelivery } from "./sqlite-claims.ts";
import { classify, type Verdict } from "../webhooks/classify.ts";
import { parseRetryAfter } from "./retry-schedule.ts";
import type { SendResult } from "../webhooks/send.ts";
import { type AttemptSituation, settleAttempt, type Settlement } from "./settle-attempt.ts";
import type { DeliverySettings, WebhookState } from "../webhooks/webhook.ts";

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
 * Records how attempts ended, inside a transaction. Null in the place of one whose delivery is no longer that attempt's:
 * it was deleted with its submission or webhook.
 */
export type FinishAttempts = (ended: readonly EndedAttempt[], now: number) => (RecordedAttempt | null)[];

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

export function createFinishAttempts(db: SqliteDatabase, settings: DeliverySettings): FinishAttempts {
  const selectWebhook = db.prepare(FINISH_SQL.webhook);
  const recordDelivery = createDeliveryRecord(db);
  const recordWebhook = createWebhookRecord(db);

  const finish = (ended: EndedAttempt, webhook: WebhookSituation, now: number): RecordedAttempt | null => {
    const { delivery, result, random } = ended;
    const verdict = classify(result);
    const retryAfterMs = parseRetryAfter(result.kind === "answer" ? result.retryAfter : null, now);
    const { spent, interruptions, isProbe } = delivery;
    const situation = { ...webhook, spent, interruptions, isProbe };
    const after = settleAttempt(situation, verdict, retryAfterMs, settings, now, random);
    if (!recordDelivery(ended, verdict, after, now)) return null;
    recordWebhook(delivery.webhookId, webhook, after);
    return { verdict, before: webhook.webhookState, after };
  };

  return (attempts, now) => {
    const webhooks = new Map<string, WebhookSituation | null>();
    return attempts.map((ended) => {
      const { webhookId } = ended.delivery;
      const known = webhooks.get(webhookId);
      const webhook = known === undefined ? toSituation(selectWebhook.get(webhookId)) : known;
      const record = webhook && finish(ended, webhook, now);
      webhooks.set(webhookId, record?.after ?? webhook);
      return record;
    });
  };
}

/** False where the delivery is no longer this attempt's; nothing is written then. */
function createDeliveryRecord(db: SqliteDatabase) {
  const updateDelivery = db.prepare(FINISH_SQL.delivery);
  const insertAttempt = db.prepare(FINISH_SQL.attempt);
  return ({ delivery, result }: EndedAttempt, verdict: Verdict, after: Settlement, now: number): boolean => {
    const isDelivered = after.state === "delivered";
    const answered = result.kind === "answer" ? result : null;
    const status = answered?.status ?? null;
    const { changes } = updateDelivery.run(
      after.state,
      after.spent,
      after.interruptions,
      after.dueAt,
      isDelivered ? now : null,
      status,
      delivery.id,
      delivery.attempt,
    );
    if (changes === 0) return false;
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
    return true;
  };
}

/** Most attempts change nothing about their webhook, and then nothing is written. */
function createWebhookRecord(db: SqliteDatabase) {
  const updateWebhook = db.prepare(FINISH_SQL.health);
  return (id: string, before: WebhookSituation, after: WebhookSituation): void => {
    const { webhookState, health, goneAt, failingSince } = after;
    const isSame =
      webhookState === before.webhookState &&
      health === before.health &&
      goneAt === before.goneAt &&
      failingSince === before.failingSince;
    if (isSame) return;
    const { breaker, count, notBeforeMs } = health;
    updateWebhook.run(webhookState, breaker, count, notBeforeMs, goneAt, failingSince, id);
  };
}

type WebhookSituation = Pick<AttemptSituation, "webhookState" | "health" | "goneAt" | "failingSince">;

function toSituation(row: unknown): WebhookSituation | null {
  if (row === undefined) return null;
  const { state, breaker, breaker_count: count, not_before: notBeforeMs, ...rest } = row as WebhookRow;
  const health = { breaker, count, notBeforeMs };
  return { webhookState: state, health, goneAt: rest.gone_at, failingSince: rest.failing_since };
}
