import { sql } from "kysely";
import { type Database, query } from "../../database/database.ts";
import { writeSlice } from "../../database/slices.ts";
import { raiseSettingsVersion } from "../../database/settings-version.ts";
import { all, first, run, type Steps, text } from "../../database/steps.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { firstIdAt, newId } from "../../foundation/id.ts";
import { BULK_BATCH, type DeliveryState } from "./delivery.ts";
import { isOfEndpoints, noDelivery } from "./delivery-store.ts";
import { spreadOutbox } from "../sending/spread-outbox.ts";

/**
 * Selects the deliveries of a bulk replay. A member that is null does not narrow the selection. Times are when the message was made; of a
 * summary that is sent again as it was, any of its messages may be of that time.
 */
export interface ReplayRange {
  /** The kind of the recipients. */
  readonly kind: string;
  readonly recipientId: string | null;
  /** The endpoints of the recipients; null or absent means every endpoint. */
  readonly endpointIds?: readonly string[] | null;
  /** Whether only deliveries that failed for good are selected. */
  readonly failedOnly: boolean;
  readonly since: number | null;
  readonly until: number | null;
}

export interface ReplayOptions {
  /** Whether the message gets a new id, so that receivers that drop repeated ids act on it again. */
  readonly asNew: boolean;
  readonly now: number;
  /**
   * Renews the message of a submission with files when it gets a new id, because addresses of files expire; null or absent leaves it as it
   * is.
   */
  readonly renew?: RenewMessage | null;
}

/** Returns the body of a message about a submission as it is to be sent from now on, as JSON. */
export type RenewMessage = (submissionId: string, body: string, now: number) => Steps<string>;

/**
 * Puts one delivery back into the queue with a full set of attempts, and returns the id of the message that will be sent. If it was part of
 * a summary, the whole summary is sent again; with new ids, each of its messages goes by itself.
 *
 * @throws not_found; conflict while the message is being sent, and, with a new id, while it still waits to be sent.
 */
export async function replayDelivery(db: Database, id: string, options: ReplayOptions): Promise<string> {
  await spreadOutbox(db, options.now);
  return db.transaction(function* () {
    const rows = query.selectFrom("delivery").select(["id", "state", "lead_id"]);
    const row = yield* first(rows.where("id", "=", id));
    if (!row) throw noDelivery(id);
    checkReplay(id, row.state, options.asNew);
    const leadId = row.lead_id ?? id;
    const sent = yield* replayRow(leadId, options);
    if (options.asNew)
      for (const member of yield* all(rows.where("lead_id", "=", leadId)))
        yield* replayRow(member.id, options);
    yield* raiseSettingsVersion("rows");
    return sent;
  });
}

/** @throws conflict if a replay would send a second copy of a message that is sent anyway. */
export function checkReplay(id: string, state: DeliveryState, asNew: boolean): void {
  if (state === "sending") {
    throw new FormsvcError("conflict", `${id} is being sent right now; look again in a moment`);
  }
  if (!asNew || state === "delivered" || state === "failed") return;
  const kind = state === "held" ? "enable_recipient_or_keep_id" : "wait_or_keep_id";
  throw new FormsvcError("conflict", `${id} is ${state} and would be sent under two ids`, { hint: { kind } });
}

/** The number of deliveries that a bulk replay would touch. As in the replay, the messages of the outbox become deliveries first. */
export async function countReplayable(
  db: Database,
  range: ReplayRange,
  { asNew, now }: ReplayOptions,
): Promise<number> {
  await spreadOutbox(db, now);
  const counted = selectReplayable(range, asNew, "")
    .clearSelect()
    .select((eb) => eb.fn.countAll<number>().as("count"));
  return (await db.read(() => first(counted)))?.count ?? 0;
}

/**
 * Replays the selected deliveries in batches, each in a transaction of its own. Finished batches stay done if a later one fails. Returns
 * the number replayed.
 */
export async function replayRange(db: Database, range: ReplayRange, options: ReplayOptions): Promise<number> {
  await spreadOutbox(db, options.now);
  // Messages that this replay adds with new ids are made after this time, so it never replays its own.
  const until = Math.min(range.until ?? options.now, options.now);
  let after = "";
  let replayed = 0;
  for (;;) {
    const batch = await writeSlice(db, function* () {
      const rows = yield* all(
        selectReplayable({ ...range, until }, options.asNew, after)
          .orderBy("id")
          .limit(BULK_BATCH),
      );
      for (const { id } of rows) yield* replayRow(id, options);
      if (rows.length > 0) yield* raiseSettingsVersion("rows");
      return rows;
    });
    replayed += batch.length;
    const last = batch.at(-1);
    if (last === undefined || batch.length < BULK_BATCH) return replayed;
    after = last.id;
  }
}

/** With new ids, only messages that need it are selected. Otherwise each replay would double the messages of the one before. */
function selectReplayable(range: ReplayRange, asNew: boolean, after: string) {
  let rows = query.selectFrom("delivery").select("id").where("id", ">", after);
  if (asNew) rows = rows.where(isFinished).where(isLatest(range.until));
  // A summary is repeated as it was, with all of its messages: selecting the first one is enough.
  else rows = rows.where("lead_id", "is", null);
  rows = range.failedOnly
    ? rows.where("state", "=", sql.lit("failed"))
    : rows.where("state", "in", ["delivered", "failed", "held", "pending"]);
  if (range.recipientId !== null) rows = rows.where("recipient_id", "=", range.recipientId);
  else rows = rows.where(isOfKind(range.kind));
  const { endpointIds = null } = range;
  if (endpointIds !== null) rows = rows.where(isOfEndpoints(endpointIds));
  if (range.since !== null) rows = rows.where(isMadeSince(range.since, range.until));
  if (range.until !== null) rows = rows.where("id", "<", firstIdAt("msg", range.until));
  return rows;
}

/**
 * A condition that holds for a message of this time, and for the first message of a summary with another one of this time. The first one is
 * the oldest.
 */
function isMadeSince(since: number, until: number | null) {
  const from = firstIdAt("msg", since);
  const bound = until === null ? sql`` : sql`AND member.id < ${firstIdAt("msg", until)}`;
  return sql<boolean>`(id >= ${from} OR id IN (SELECT member.lead_id FROM delivery AS member
    WHERE member.lead_id IS NOT NULL AND member.id >= ${from} ${bound}))`;
}

function isOfKind(kind: string) {
  return sql<boolean>`recipient_id IN (SELECT recipient.id FROM recipient WHERE recipient.kind = ${kind})`;
}

const isFinished = sql<boolean>`state IN ('delivered', 'failed')`;

/**
 * A condition that holds if no message about the same submission still waits for the same recipient, and if no newer one was made before
 * `until`.
 */
function isLatest(until: number | null) {
  const bound = until === null ? sql`` : sql`AND later.id < ${firstIdAt("msg", until)}`;
  return sql<boolean>`NOT EXISTS (SELECT 1 FROM delivery AS later
    WHERE later.submission_id = delivery.submission_id AND later.recipient_id = delivery.recipient_id
      AND (later.state IN ('pending', 'sending', 'held') OR (later.id > delivery.id ${bound})))`;
}

/** A recipient that is not enabled gets the delivery as held; it is sent when the recipient is enabled again. */
function* replayRow(id: string, { asNew, now, renew = null }: ReplayOptions): Steps<string> {
  const state = sql<"pending" | "held">`CASE
    (SELECT recipient.state FROM recipient WHERE recipient.id = delivery.recipient_id) WHEN 'enabled' THEN 'pending' ELSE 'held' END`;
  if (!asNew) {
    yield* run(
      query
        .updateTable("delivery")
        .set({ state, spent: 0, interruptions: 0, due_at: now, finished_at: null })
        .where((eb) => eb.or([eb("id", "=", id), eb("lead_id", "=", id)])),
    );
    return id;
  }
  const fresh = newId("msg", now);
  const event = renew === null ? null : yield* renewedEvent(id, renew, now);
  yield* run(
    query
      .insertInto("delivery")
      .columns(["id", "submission_id", "recipient_id", "state", "due_at", "event"])
      .expression(
        query
          .selectFrom("delivery")
          .select([sql.lit(fresh).as("id"), "submission_id", "recipient_id", state.as("state")])
          .select(sql<number>`${sql.lit(now)}`.as("due_at"))
          .select(sql<string | null>`${event}`.as("event"))
          .where("id", "=", id),
      ),
  );
  return fresh;
}

const OWN_EVENT_SQL = `SELECT submission_id, event_head AS body FROM delivery JOIN submission ON submission.id = submission_id
  WHERE delivery.id = ? AND event_head IS NOT NULL AND event_tail IS NULL`;

/** The renewed body; null if the message has the data of its submission's row, as messages about submissions without files do. */
function* renewedEvent(id: string, renew: RenewMessage, now: number): Steps<string | null> {
  const row = yield* first(text<{ submission_id: string; body: string }>(OWN_EVENT_SQL, id));
  return row === undefined ? null : yield* renew(row.submission_id, row.body, now);
}
