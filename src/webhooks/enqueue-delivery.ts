import type { Database } from "../database/database.ts";
import { toIsoTime } from "../foundation/clock.ts";
import { newId } from "../foundation/id.ts";

/** What of a submission its notification tells. */
export interface NotifiedSubmission {
  readonly id: string;
  readonly endpointId: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly spamScore: number;
  readonly ipAddress: string;
  readonly userAgent: string;
  readonly createdAt: number;
}

export interface Outbox {
  /**
   * Queues a stored submission for every webhook of its endpoint that wants it. Call it in the transaction that stores
   * the submission.
   */
  enqueue(submission: NotifiedSubmission, now: number): void;
  /** Call after that transaction: wakes whoever sends, where something was queued. */
  announce(): void;
  /** Who sends. */
  onQueued(listener: () => void): void;
  /** Webhooks that got something since the last call; after a rollback it may name some that did not. */
  takeTouched(): Set<string>;
}

interface Target {
  readonly id: string;
  readonly state: string;
  readonly endpoint_name: string;
}

export const ENQUEUE_SQL = {
  targets: `SELECT webhook.id, webhook.state, endpoint.name AS endpoint_name
    FROM webhook JOIN endpoint ON endpoint.id = webhook.endpoint_id
    WHERE webhook.endpoint_id = ? AND webhook.max_spam_score >= ?`,
  event: "INSERT INTO event (submission_id, body) VALUES (?, ?)",
  delivery: "INSERT INTO delivery (id, submission_id, webhook_id, state, due_at) VALUES (?, ?, ?, ?, ?)",
} as const;

export function createOutbox(db: Database): Outbox {
  const selectTargets = db.prepare(ENQUEUE_SQL.targets);
  const insertEvent = db.prepare(ENQUEUE_SQL.event);
  const insertDelivery = db.prepare(ENQUEUE_SQL.delivery);
  let touched = new Set<string>();
  let wake = (): void => undefined;
  return {
    enqueue(submission, now) {
      const targets = selectTargets.all(submission.endpointId, submission.spamScore) as Target[];
      const [first] = targets;
      if (first === undefined) return;
      insertEvent.run(submission.id, renderBody(submission, first.endpoint_name, now));
      for (const { id, state } of targets) {
        insertDelivery.run(
          newId("msg", now),
          submission.id,
          id,
          state === "enabled" ? "pending" : "held",
          now,
        );
        touched.add(id);
      }
    },
    announce() {
      if (touched.size > 0) wake();
    },
    onQueued(listener) {
      wake = listener;
    },
    takeTouched() {
      const taken = touched;
      touched = new Set();
      return taken;
    },
  };
}

/** The body of `submission.created`, well-formed UTF-8 as signatures need it. */
export function renderBody(submission: NotifiedSubmission, endpointName: string, now: number): Buffer {
  const event = {
    event: "submission.created",
    timestamp: toIsoTime(now),
    endpoint: { id: submission.endpointId, name: endpointName },
    submission: {
      id: submission.id,
      data: submission.data,
      spam_score: submission.spamScore,
      ip_address: submission.ipAddress,
      user_agent: submission.userAgent,
      created_at: toIsoTime(submission.createdAt),
    },
  };
  return Buffer.from(JSON.stringify(event));
}
