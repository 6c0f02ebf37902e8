import type { Database } from "../../database/database.ts";
import { writeSlice } from "../../database/slices.ts";
import { LIST, listParameter } from "../../database/list-parameter.ts";
import { LIMIT_PARAMETER, TEXT_PARAMETER } from "../../database/parameters.ts";
import { among } from "../../database/some-rows.ts";
import { all, byEngine, first, run, type Steps, text, textByEngine } from "../../database/steps.ts";
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

const STATE = "(SELECT recipient.state FROM recipient WHERE recipient.id = outbox.recipient_id) AS state";

/**
 * Selects the oldest rows until they have a number of messages. PostgreSQL skips rows that another transaction moves at this moment, and
 * locks the others before it counts them; it locks them again to read what such a transaction has left of them.
 */
const oldest = (where: string, state: string) =>
  byEngine((engine) => {
    const [among, lock, claimedBy] =
      engine === "sqlite" ? ["IN", "", "NULL"] : ["= ANY", "FOR UPDATE SKIP LOCKED", "claimed_by"];
    const chosen = `SELECT number FROM (SELECT number, sum(message_count) OVER (ORDER BY number) - message_count AS before
      FROM (SELECT number, message_count FROM outbox ${where} ORDER BY number LIMIT ${LIMIT_PARAMETER} ${lock}) AS waiting) AS counted
      WHERE before < ${LIMIT_PARAMETER}`;
    return `SELECT number, recipient_id, queued_at, messages, ${claimedBy} AS claimed_by, ${state} FROM outbox
      WHERE number ${among} (${engine === "sqlite" ? chosen : `ARRAY(${chosen})`}) ORDER BY number ${lock && "FOR UPDATE OF outbox"}`;
  });

/** The messages as JSON: arrays of the id and the submission's, the recipient's, the state, the time and the server that sends it. */
const MESSAGES = {
  sqlite: `INSERT INTO delivery (id, submission_id, recipient_id, state, due_at)
    SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4 FROM json_each(?) AS message
    WHERE EXISTS (SELECT 1 FROM submission WHERE submission.id = message.value ->> 1)`,
  // The submissions are locked, so that they stay until their deliveries are stored.
  postgresql: `WITH message AS MATERIALIZED (SELECT value, ordinal FROM json_array_elements(?::json) WITH ORDINALITY AS each (value, ordinal)),
    alive AS MATERIALIZED (SELECT id FROM submission WHERE id = ANY (ARRAY(SELECT value ->> 1 FROM message)) ORDER BY id FOR KEY SHARE)
    INSERT INTO delivery (id, submission_id, recipient_id, state, due_at, attempts, claimed_by)
    SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, (value ->> 4)::bigint,
      CASE WHEN value ->> 5 IS NULL THEN 0 ELSE 1 END, value ->> 5 FROM message
    WHERE value ->> 1 IN (SELECT id FROM alive) ORDER BY ordinal`,
};

export const SPREAD_SQL = {
  first: "SELECT queued_at FROM outbox ORDER BY number LIMIT 1",
  oldest: oldest("", STATE),
  oldestFor: oldest(`WHERE recipient_id = ${TEXT_PARAMETER}`, "'enabled' AS state"),
  deliveries: MESSAGES,
  delete: byEngine(
    (engine) =>
      `DELETE FROM outbox WHERE ${among(engine, "number", `SELECT CAST(key AS bigint) FROM ${LIST}`)}`,
  ),
} as const;

/**
 * Moves messages of the outbox into `delivery`, oldest rows first, until `most` messages are moved. Returns the number of messages in the
 * moved rows: less than `most` if none is left. A message that was stored by a clock ahead of this one is due now.
 */
export function* spread(most: number, now: number): Steps<number> {
  let count = 0;
  for (let wanted = batch(most); wanted > 0; wanted = batch(most - count)) {
    const rows = yield* all(textByEngine<Row>(SPREAD_SQL.oldest, wanted, wanted));
    const moved = yield* spreadRows(rows, ({ queued_at: queuedAt }) => Math.min(queuedAt, now));
    count += moved;
    if (moved < wanted) break;
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
      if (named > 0) yield* raiseSettingsVersion("rows");
      return named;
    });
    left = count === 0 ? 0 : left - count;
  }
}

/** Moves one batch of messages that have waited long. Returns the number of messages. */
export async function spreadLate(db: Database, now: number): Promise<number> {
  const oldest = await db.read(() => first(text<Pick<Row, "queued_at">>(SPREAD_SQL.first)));
  // A message whose time is far in the future was queued by a clock that was ahead. It is moved too, because it must not block those behind
  // it.
  if (oldest === undefined || Math.abs(now - oldest.queued_at) <= LONGEST_QUEUED_MS) return 0;
  return db.relaxedTransaction(() => spread(BULK_BATCH, now));
}

/** Moves up to a batch of messages of one enabled recipient. They become due at `dueAt`. */
export function* spreadFor(recipientId: string, dueAt: number): Steps<void> {
  const rows = yield* all(textByEngine<Row>(SPREAD_SQL.oldestFor, recipientId, BULK_BATCH, BULK_BATCH));
  yield* spreadRows(rows, () => dueAt);
}

function batch(most: number): number {
  return Math.min(most, BULK_BATCH);
}

/** Two statements for all rows, because each is a round trip over a network, and meanwhile nothing else is sent. Returns the number of messages. */
function* spreadRows(rows: readonly Row[], dueAt: (row: Row) => number): Steps<number> {
  if (rows.length === 0) return 0;
  const messages = rows.flatMap((row) => {
    const waiting = row.state === "enabled" ? "pending" : "held";
    const state = row.claimed_by === null ? waiting : "sending";
    const due = dueAt(row);
    const queued = JSON.parse(row.messages) as readonly QueuedMessage[];
    return queued.map(([id, submission]) => [id, submission, row.recipient_id, state, due, row.claimed_by]);
  });
  // If a submission was deleted meanwhile, nothing is sent about it.
  yield* run(textByEngine(SPREAD_SQL.deliveries, JSON.stringify(messages)));
  yield* run(textByEngine(SPREAD_SQL.delete, listParameter(rows.map(({ number }) => number))));
  return messages.length;
}
