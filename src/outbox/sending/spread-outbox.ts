import type { Database } from "../../database/database.ts";
import { writeSlice } from "../../database/slices.ts";
import { TEXT_PARAMETER } from "../../database/parameters.ts";
import { first, run, type Steps, text, textByEngine } from "../../database/steps.ts";
import { raiseSettingsVersion } from "../../database/settings-version.ts";
import { BULK_BATCH } from "../queue/delivery.ts";
import type { QueuedMessage } from "../queue/outbox.ts";
import { countQueued } from "../queue/queued-deliveries.ts";

/** A message that is not claimed within this time is moved from the outbox into `delivery`. */
const LONGEST_QUEUED_MS = 60_000;

interface Row {
  readonly number: number;
  readonly recipient_id: string;
  readonly queued_at: number;
  readonly messages: string;
  readonly state: string;
  /** The id of the server that sends the messages; null if they wait. */
  readonly claimed_by: string | null;
}

const oldest = (
  claimedBy: string,
): string => `SELECT number, recipient_id, queued_at, messages, ${claimedBy} AS claimed_by,
      (SELECT recipient.state FROM recipient WHERE recipient.id = outbox.recipient_id) AS state
    FROM outbox ORDER BY number LIMIT 1`;

export const SPREAD_SQL = {
  oldest: oldest("NULL"),
  oldestFor: `SELECT number, recipient_id, queued_at, messages, NULL AS claimed_by, 'enabled' AS state
    FROM outbox WHERE recipient_id = ${TEXT_PARAMETER} ORDER BY number LIMIT 1`,
  submission: "SELECT 1 FROM submission WHERE id = ?",
  // Two statements: one with the look-up inside it takes three times as long, because SQLite then keeps a statement journal.
  delivery: "INSERT INTO delivery (id, submission_id, recipient_id, state, due_at) VALUES (?, ?, ?, ?, ?)",
  // For a message of a row that was claimed whole, which SQLite does not do.
  claimed: `INSERT INTO delivery (id, submission_id, recipient_id, state, due_at, attempts, claimed_by)
    VALUES (?, ?, ?, 'sending', ?, 1, ?)`,
  delete: "DELETE FROM outbox WHERE number = ?",
} as const;

/**
 * Moves messages of the outbox into `delivery`, oldest rows first, until `most` messages are moved. Returns the number of messages in the
 * moved rows: less than `most` if none is left. A message that was stored by a clock ahead of this one is due now.
 */
export function* spread(most: number, now: number): Steps<number> {
  let count = 0;
  while (count < most) {
    const row = yield* first(locked<Row>(SPREAD_SQL.oldest, oldest("claimed_by")));
    if (row === undefined) break;
    count += yield* spreadRow(row, Math.min(row.queued_at, now));
  }
  return count;
}

/** Moves everything that is now in the outbox into `delivery`, in small transactions. */
export async function spreadOutbox(db: Database, now: number): Promise<void> {
  const { pending, held } = await db.read(() => countQueued(null));
  // The count is taken once, because new messages may come all the time.
  for (let left = pending + held; left > 0;) {
    const count = await writeSlice(db, function* () {
      const named = yield* spread(BULK_BATCH, now);
      if (named > 0) yield* raiseSettingsVersion();
      return named;
    });
    left = count === 0 ? 0 : left - count;
  }
}

/** Moves one batch of messages that have waited long. Returns the number of messages. */
export async function spreadLate(db: Database, now: number): Promise<number> {
  const oldest = await db.read(() => first(text<Row>(SPREAD_SQL.oldest)));
  // A message whose time is far in the future was queued by a clock that was ahead. It is moved too, because it must not block those behind
  // it.
  if (oldest === undefined || Math.abs(now - oldest.queued_at) <= LONGEST_QUEUED_MS) return 0;
  return db.relaxedTransaction(() => spread(BULK_BATCH, now));
}

/** Moves up to `most` messages of one enabled recipient. They become due at `dueAt`. */
export function* spreadFor(recipientId: string, dueAt: number, most: number): Steps<void> {
  for (let count = 0; count < most;) {
    const row = yield* first(locked<Row>(SPREAD_SQL.oldestFor, SPREAD_SQL.oldestFor, recipientId));
    if (row === undefined) return;
    count += yield* spreadRow(row, dueAt);
  }
}

/** Skips rows that another transaction moves at this moment. */
function locked<Row>(sqlite: string, postgresql: string, ...parameters: unknown[]) {
  return textByEngine<Row>(
    { sqlite, postgresql: `${postgresql} FOR UPDATE OF outbox SKIP LOCKED` },
    ...parameters,
  );
}

/** Selects the submission and locks it, so that it stays until its delivery is stored. */
function kept(id: string) {
  const sql = SPREAD_SQL.submission;
  return textByEngine({ sqlite: sql, postgresql: `${sql} FOR KEY SHARE` }, id);
}

function* spreadRow(row: Row, dueAt: number): Steps<number> {
  const state = row.state === "enabled" ? "pending" : "held";
  const messages = JSON.parse(row.messages) as readonly QueuedMessage[];
  for (const [id, submissionId] of messages) {
    // If the submission was deleted meanwhile, nothing is sent about it.
    if ((yield* first(kept(submissionId))) === undefined) continue;
    const of = [id, submissionId, row.recipient_id];
    if (row.claimed_by === null) yield* run(text(SPREAD_SQL.delivery, ...of, state, dueAt));
    else yield* run(text(SPREAD_SQL.claimed, ...of, dueAt, row.claimed_by));
  }
  yield* run(text(SPREAD_SQL.delete, row.number));
  return messages.length;
}
