import type { Database } from "../database/database.ts";
import { first, run, type Steps, text } from "../database/steps.ts";
import { BULK_BATCH } from "./delivery.ts";
import type { QueuedMessage } from "./outbox.ts";

/** What has not gone out by then waits for something: it becomes deliveries like any other. */
const LONGEST_QUEUED_MS = 60_000;

interface Row {
  readonly number: number;
  readonly recipient_id: string;
  readonly queued_at: number;
  readonly messages: string;
  readonly state: string;
}

export const SPREAD_SQL = {
  oldest: `SELECT number, recipient_id, queued_at, messages,
      (SELECT recipient.state FROM recipient WHERE recipient.id = outbox.recipient_id) AS state
    FROM outbox ORDER BY number LIMIT 1`,
  submission: "SELECT 1 FROM submission WHERE id = ?",
  // One statement with that look-up in it takes three times as long: SQLite keeps a journal for its part of the work.
  delivery: "INSERT INTO delivery (id, submission_id, recipient_id, state, due_at) VALUES (?, ?, ?, ?, ?)",
  delete: "DELETE FROM outbox WHERE number = ?",
} as const;

/**
 * Turns rows of the outbox into deliveries, oldest first, until it has come to `most` messages. Returns how many
 * messages they named: fewer than `most` when nothing is left.
 */
export function* spread(most: number): Steps<number> {
  let count = 0;
  while (count < most) {
    const row = yield* oldestRow();
    if (row === undefined) break;
    count += yield* spreadRow(row);
  }
  return count;
}

/** Turns all that waits in the outbox into deliveries, in small transactions. */
export async function spreadOutbox(db: Database): Promise<void> {
  while ((await db.read(oldestRow)) !== undefined) await db.transaction(() => spread(BULK_BATCH));
}

/** The same, one batch at a time, with what has waited for long. Returns how many messages that were. */
export async function spreadLate(db: Database, now: number): Promise<number> {
  const oldest = await db.read(oldestRow);
  // One from the future was queued by a wrong clock, and must not hold up those behind it.
  if (oldest === undefined || Math.abs(now - oldest.queued_at) <= LONGEST_QUEUED_MS) return 0;
  return db.relaxedTransaction(() => spread(BULK_BATCH));
}

function oldestRow(): Steps<Row | undefined> {
  return first(text<Row>(SPREAD_SQL.oldest));
}

function* spreadRow(row: Row): Steps<number> {
  const state = row.state === "enabled" ? "pending" : "held";
  const messages = JSON.parse(row.messages) as readonly QueuedMessage[];
  for (const [id, submissionId] of messages) {
    // Of one that was deleted meanwhile there is nothing to tell any more.
    if ((yield* first(text(SPREAD_SQL.submission, submissionId))) === undefined) continue;
    yield* run(text(SPREAD_SQL.delivery, id, submissionId, row.recipient_id, state, row.queued_at));
  }
  yield* run(text(SPREAD_SQL.delete, row.number));
  return messages.length;
}
