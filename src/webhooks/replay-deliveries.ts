import { sql } from "kysely";
import { type Database, query } from "../database/database.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { firstIdAt, newId } from "../foundation/id.ts";
import { BULK_BATCH } from "./delivery.ts";

/** Which deliveries a bulk replay means; what is null does not narrow it. Times are of when the message was made. */
export interface ReplayRange {
  readonly webhookId: string | null;
  /** Only what failed for good. */
  readonly failedOnly: boolean;
  readonly since: number | null;
  readonly until: number | null;
}

export interface ReplayOptions {
  /** Gives the message a new id, so that receivers that drop repeated ids act on it again. */
  readonly asNew: boolean;
  readonly now: number;
}

/**
 * Puts one delivery back into the queue with all its attempts anew. The id of what will be sent.
 *
 * @throws not_found; conflict while it is being sent.
 */
export function replayDelivery(db: Database, id: string, options: ReplayOptions): string {
  return db.transaction(() => {
    const row = db.first(query.selectFrom("delivery").select(["id", "state"]).where("id", "=", id));
    if (!row) throw new FormsvcError("not_found", `There is no delivery ${id}.`);
    if (row.state === "sending" && !options.asNew) {
      throw new FormsvcError("conflict", `${id} is being sent right now; look again in a moment.`);
    }
    return replayRow(db, id, options);
  });
}

/** How many deliveries a bulk replay would touch. */
export function countReplayable(db: Database, range: ReplayRange): number {
  const counted = selectReplayable(range, "")
    .clearSelect()
    .select((eb) => eb.fn.countAll<number>().as("count"));
  return db.first(counted)?.count ?? 0;
}

/** Replays a range in batches of its own transactions; what is done stays done whatever happens. The number replayed. */
export function replayRange(db: Database, range: ReplayRange, options: ReplayOptions): number {
  // What this replay itself adds with new ids lies after this bound, so it never meets its own work.
  const until = Math.min(range.until ?? options.now, options.now);
  let after = "";
  let replayed = 0;
  for (;;) {
    const batch = db.transaction(() => {
      const rows = db.all(
        selectReplayable({ ...range, until }, after)
          .orderBy("id")
          .limit(BULK_BATCH),
      );
      for (const { id } of rows) replayRow(db, id, options);
      return rows;
    });
    replayed += batch.length;
    const last = batch.at(-1);
    if (last === undefined || batch.length < BULK_BATCH) return replayed;
    after = last.id;
  }
}

function selectReplayable(range: ReplayRange, after: string) {
  let rows = query.selectFrom("delivery").select("id").where("id", ">", after);
  rows = range.failedOnly
    ? rows.where("state", "=", sql.lit("failed"))
    : rows.where("state", "in", ["delivered", "failed", "held", "pending"]);
  if (range.webhookId !== null) rows = rows.where("webhook_id", "=", range.webhookId);
  if (range.since !== null) rows = rows.where("id", ">=", firstIdAt("msg", range.since));
  if (range.until !== null) rows = rows.where("id", "<", firstIdAt("msg", range.until));
  return rows;
}

/** To a webhook that is not enabled it goes as held, and is sent when the webhook is enabled again. */
function replayRow(db: Database, id: string, { asNew, now }: ReplayOptions): string {
  const state = sql<"pending" | "held">`CASE
    (SELECT webhook.state FROM webhook WHERE webhook.id = delivery.webhook_id) WHEN 'enabled' THEN 'pending' ELSE 'held' END`;
  if (!asNew) {
    db.run(
      query
        .updateTable("delivery")
        .set({ state, spent: 0, interruptions: 0, due_at: now, finished_at: null })
        .where("id", "=", id),
    );
    return id;
  }
  const fresh = newId("msg", now);
  db.run(
    query
      .insertInto("delivery")
      .columns(["id", "submission_id", "webhook_id", "state", "due_at"])
      .expression(
        query
          .selectFrom("delivery")
          .select([sql.lit(fresh).as("id"), "submission_id", "webhook_id", state.as("state")])
          .select(sql<number>`${sql.lit(now)}`.as("due_at"))
          .where("id", "=", id),
      ),
  );
  return fresh;
}
