import type { Database } from "../database/database.ts";
import { BULK_BATCH } from "./delivery.ts";
import type { QueuedMessage } from "./enqueue-delivery.ts";

/** What has not gone out by then waits for something: it becomes deliveries like any other. */
const LONGEST_QUEUED_MS = 60_000;

interface Row {
  readonly number: number;
  readonly webhook_id: string;
  readonly queued_at: number;
  readonly messages: string;
  readonly state: string;
}

export const SPREAD_SQL = {
  oldest: `SELECT number, webhook_id, queued_at, messages, webhook.state
    FROM outbox CROSS JOIN webhook ON webhook.id = outbox.webhook_id ORDER BY number LIMIT 1`,
  submission: "SELECT 1 FROM submission WHERE id = ?",
  // One statement with that look-up in it takes three times as long: SQLite keeps a journal for its part of the work.
  delivery: "INSERT INTO delivery (id, submission_id, webhook_id, state, due_at) VALUES (?, ?, ?, ?, ?)",
  delete: "DELETE FROM outbox WHERE number = ?",
} as const;

export interface Spreader {
  /** When the row that is next was queued; null where the outbox is empty. */
  nextQueuedAt(): number | null;
  /**
   * Turns rows of the outbox into deliveries, oldest first, until it has come to `most` messages. Inside a transaction.
   * How many messages they named; fewer than `most` where nothing is left.
   */
  spread(most: number): number;
}

export function createSpreader(db: Database): Spreader {
  const oldest = db.prepare(SPREAD_SQL.oldest);
  const submission = db.prepare(SPREAD_SQL.submission);
  const insert = db.prepare(SPREAD_SQL.delivery);
  const remove = db.prepare(SPREAD_SQL.delete);
  const spreadRow = (row: Row): number => {
    const state = row.state === "enabled" ? "pending" : "held";
    const messages = JSON.parse(row.messages) as readonly QueuedMessage[];
    for (const [id, submissionId] of messages) {
      // Of one that was deleted meanwhile there is nothing to tell any more.
      if (submission.get(submissionId) === undefined) continue;
      insert.run(id, submissionId, row.webhook_id, state, row.queued_at);
    }
    remove.run(row.number);
    return messages.length;
  };
  const next = (): Row | undefined => oldest.get() as Row | undefined;
  return {
    nextQueuedAt: () => next()?.queued_at ?? null,
    spread(most) {
      let count = 0;
      for (let row = next(); row !== undefined; row = next()) {
        count += spreadRow(row);
        if (count >= most) break;
      }
      return count;
    },
  };
}

/** Turns all that waits in the outbox into deliveries, in small transactions. */
export function spreadOutbox(db: Database): void {
  const spreader = createSpreader(db);
  while (spreader.nextQueuedAt() !== null) db.transaction(() => spreader.spread(BULK_BATCH));
}

/** The same a batch at a time, with what has waited for long. How many messages that were. */
export function createLateSpread(db: Database): (now: number) => number {
  const spreader = createSpreader(db);
  return (now) => {
    const queuedAt = spreader.nextQueuedAt();
    // One from the future was queued by a wrong clock, and must not hold up those behind it.
    if (queuedAt === null || Math.abs(now - queuedAt) <= LONGEST_QUEUED_MS) return 0;
    return db.relaxedTransaction(() => spreader.spread(BULK_BATCH));
  };
}
