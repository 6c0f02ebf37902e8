import { all, prepared, run, type Steps, text } from "../../database/steps.ts";
import { RECORD_OF_ROWS } from "./postgresql-claimed-rows.ts";
import { findFormer } from "../sending/former-address.ts";
import {
  changedSituation,
  type RecipientSituation,
  SITUATION_SQL,
  type SituationRow,
  toSituation,
} from "../sending/recipient-situation.ts";
import { settleEnded } from "../sending/settle-attempt.ts";
import type { EndedAttempt, RecordedAttempt } from "../sending/transport.ts";

const ENDED = `ended AS MATERIALIZED (SELECT * FROM json_to_recordset(:ended) AS ended (id text COLLATE "C", attempt integer,
      outbox_number bigint, state text, spent integer, interruptions integer, due_at bigint, finished_at bigint,
      started_at bigint, duration_ms bigint, outcome text, status integer, message text, answer text, is_probe smallint))`;
const LOGGED = `logged AS (INSERT INTO attempt
        (delivery_id, number, started_at, duration_ms, outcome, status, message, answer, is_probe)
      SELECT id, attempt, started_at, duration_ms, outcome, status, message, answer, is_probe
      FROM ended WHERE id IN (SELECT id FROM recorded))
    SELECT id, id IN (SELECT id FROM recorded) AS is_recorded FROM own`;

const FINISH_SQL = {
  // Recipients are locked, so that a change that their owner makes meanwhile is not overwritten.
  recipients: `SELECT id, ${SITUATION_SQL.columns.join(", ")} FROM recipient
    WHERE id IN (SELECT value FROM json_array_elements_text(:ids)) ORDER BY id FOR NO KEY UPDATE`,
  // Each statement records all of the attempts or none, because what follows from an attempt depends on the attempts before it.
  record: `WITH ${ENDED}, own AS MATERIALIZED (SELECT ended.*, claimed_by FROM delivery JOIN ended ON ended.id = delivery.id AND ended.attempt = attempts
      WHERE delivery.id = ANY (ARRAY(SELECT id FROM ended)) AND delivery.state = 'sending' AND claimed_by = :self),
    recorded AS (UPDATE delivery SET state = own.state, spent = own.spent, interruptions = own.interruptions,
        due_at = coalesce(own.due_at, delivery.due_at), finished_at = own.finished_at,
        last_status = coalesce(own.status, last_status), claimed_at = NULL, claimed_by = NULL
      FROM own WHERE delivery.id = own.id AND delivery.state = 'sending' AND attempts = own.attempt
        AND delivery.claimed_by = own.claimed_by AND (SELECT count(*) FROM own) = (SELECT count(*) FROM ended)
      RETURNING delivery.id),
    ${LOGGED}`,
  recordOfRows: `WITH ${ENDED}, ${RECORD_OF_ROWS}, ${LOGGED}`,
  members: `UPDATE delivery SET state = :state, spent = :spent, interruptions = :interruptions, due_at = coalesce(:dueAt, due_at),
      finished_at = :finishedAt, last_status = coalesce(:status, last_status), claimed_by = NULL
    WHERE id IN (SELECT value FROM json_array_elements_text(:ids)) AND state = 'sending' AND claimed_by = :self`,
} as const;

/** The situation of each recipient, by its id. */
type Situations = ReadonlyMap<string, RecipientSituation>;

/** What all attempts of a call are settled by. */
interface Given {
  /** The attempts that went to an address which their recipient has no more. */
  readonly former: ReadonlySet<EndedAttempt>;
  readonly now: number;
}

interface Recorded {
  /** By the id of the delivery. */
  readonly records: ReadonlyMap<string, RecordedAttempt>;
  readonly situations: Situations;
}

/** Records how attempts ended, as `Claims.finish` says: one statement for messages that are still in the outbox, and one for deliveries. */
export function createFinish(self: string) {
  return function* (attempts: readonly EndedAttempt[], now: number): Steps<(RecordedAttempt | null)[]> {
    if (attempts.length === 0) return [];
    const before = yield* lockRecipients(attempts);
    const former = yield* findFormer(attempts, before);
    const single = onePerMessage(attempts);
    const given = { former, self, now };
    const known = single.filter(({ delivery }) => before.has(delivery.recipientId));
    const ofRows = yield* recordOwn(known.filter(isOfRow), before, {
      how: "recordOfRows",
      ...given,
    });
    // A row of the outbox may have been moved into `delivery` meanwhile.
    const left = known.filter(({ delivery }) => !ofRows.records.has(delivery.id));
    const others = yield* recordOwn(left, ofRows.situations, { how: "record", ...given });
    const { situations } = others;
    const records = new Map([...ofRows.records, ...others.records]);
    for (const ended of known) {
      if (ended.delivery.memberIds.length === 0) continue;
      const record = records.get(ended.delivery.id) ?? settle(ended, situations, given);
      if (record !== null) yield* recordMembers(ended, record, self, now);
    }
    for (const [id, situation] of before) {
      const changed = changedSituation(id, situation, situations.get(id) ?? situation);
      if (changed !== null) yield* run(text(SITUATION_SQL.update, ...changed));
    }
    return attempts.map((ended) => (single.includes(ended) ? records.get(ended.delivery.id) : null) ?? null);
  };
}

/**
 * Leaves out all attempts of a message but one. There are several if PostgreSQL lost a claim in a crash, because claims do not wait for the
 * disk, or if another server took the message over, and it was claimed anew while its first attempt was under way. A statement that gets
 * both can record neither, and would hold up everything that this server sends.
 */
function onePerMessage(attempts: readonly EndedAttempt[]): readonly EndedAttempt[] {
  const byId = new Map<string, EndedAttempt>();
  for (const ended of attempts) {
    const { id } = ended.delivery;
    const other = byId.get(id);
    if (other === undefined || replaces(ended, other)) byId.set(id, ended);
  }
  return byId.size === attempts.length ? attempts : [...byId.values()];
}

/** Whether an attempt counts in place of an earlier one: if it has a higher number, or if the earlier one delivered no more than it. */
function replaces({ delivery, result }: EndedAttempt, earlier: EndedAttempt): boolean {
  if (delivery.attempt !== earlier.delivery.attempt) return delivery.attempt > earlier.delivery.attempt;
  return result.blame === "nobody" || earlier.result.blame !== "nobody";
}

function isOfRow({ delivery }: EndedAttempt): boolean {
  return delivery.outboxNumber !== null;
}

function* lockRecipients(attempts: readonly EndedAttempt[]): Steps<Situations> {
  const ids = JSON.stringify([...new Set(attempts.map(({ delivery }) => delivery.recipientId))]);
  const rows = yield* all(
    prepared<SituationRow & { readonly id: string }>("lock recipients", FINISH_SQL.recipients, { ids }),
  );
  return new Map(rows.map((row) => [row.id, toSituation(row)]));
}

/** Leaves out attempts whose delivery has changed hands or was deleted; they change nothing. */
function* recordOwn(
  attempts: readonly EndedAttempt[],
  before: Situations,
  { how, self, ...given }: Given & { readonly how: "record" | "recordOfRows"; readonly self: string },
): Steps<Recorded> {
  for (let own = attempts; own.length > 0;) {
    const { records, situations } = settleAll(own, before, given);
    const rows = own.map((ended) => toRow(ended, records.get(ended.delivery.id), given.now));
    const found = yield* all(prepared<FoundRow>(how, FINISH_SQL[how], { ended: JSON.stringify(rows), self }));
    if (found.length === own.length) {
      for (const { id, is_recorded: isRecorded } of found) if (!isRecorded) records.delete(id);
      return { records, situations };
    }
    const ids = new Set(found.map(({ id }) => id));
    own = own.filter(({ delivery }) => ids.has(delivery.id));
  }
  return { records: new Map(), situations: before };
}

interface FoundRow {
  readonly id: string;
  /** False if the submission was deleted at this moment, or if not all of the attempts were found. */
  readonly is_recorded: boolean;
}

/** Settles the attempts one after the other, because each may change the situation of its recipient. */
function settleAll(attempts: readonly EndedAttempt[], before: Situations, given: Given) {
  const situations = new Map(before);
  const records = new Map<string, RecordedAttempt>();
  for (const ended of attempts) {
    const { id, recipientId } = ended.delivery;
    const record = settle(ended, situations, given);
    if (record === null) continue;
    records.set(id, record);
    situations.set(recipientId, record.after);
  }
  return { records, situations };
}

/** What follows from an attempt; null if its recipient was deleted. */
function settle(ended: EndedAttempt, situations: Situations, { former, now }: Given): RecordedAttempt | null {
  const situation = situations.get(ended.delivery.recipientId);
  if (situation === undefined) return null;
  const after = settleEnded(ended, situation, { isFormer: former.has(ended), now });
  return { before: situation.recipientState, after };
}

/** Members without a value are left out of the JSON, and become NULL. */
function toRow({ delivery, result }: EndedAttempt, record: RecordedAttempt | undefined, now: number) {
  const isDelivered = record?.after.state === "delivered";
  return {
    id: delivery.id,
    attempt: delivery.attempt,
    outbox_number: delivery.outboxNumber ?? undefined,
    state: record?.after.state,
    spent: record?.after.spent,
    interruptions: record?.after.interruptions,
    due_at: record?.after.dueAt ?? undefined,
    finished_at: isDelivered ? now : undefined,
    started_at: delivery.claimedAt,
    duration_ms: result.durationMs,
    outcome: result.outcome,
    status: result.status ?? undefined,
    message: isDelivered ? undefined : storable(result.message),
    answer: result.answer === null ? undefined : storable(result.answer),
    is_probe: delivery.isProbe ? 1 : 0,
  };
}

/** Replaces what PostgreSQL refuses in text: NUL, and half of a surrogate pair. */
function storable(said: string): string {
  return said.toWellFormed().replaceAll("\0", "\uFFFD");
}

/** Records the attempt for the other messages of a summary, even if the submission of its first message was deleted meanwhile. */
function* recordMembers(
  { delivery, result }: EndedAttempt,
  { after }: RecordedAttempt,
  self: string,
  now: number,
): Steps<void> {
  const { state, spent, interruptions, dueAt } = after;
  const finishedAt = state === "delivered" ? now : null;
  const ids = JSON.stringify(delivery.memberIds);
  const values = { state, spent, interruptions, dueAt, finishedAt, status: result.status, ids, self };
  yield* run(prepared("finish members", FINISH_SQL.members, values));
}
