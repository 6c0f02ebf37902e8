import { all, prepared, run, type Steps, text } from "../database/steps.ts";
import {
  changedSituation,
  type RecipientSituation,
  SITUATION_SQL,
  type SituationRow,
  toSituation,
} from "./recipient-situation.ts";
import { settleAttempt } from "./settle-attempt.ts";
import type { EndedAttempt, RecordedAttempt } from "./transport.ts";

export const FINISH_SQL = {
  // Recipients are locked, so that what an owner does to one meanwhile is not written over.
  recipients: `SELECT ended.id AS delivery_id, delivery.id IS NOT NULL AS is_own,
      ${SITUATION_SQL.columns.map((name) => `recipient.${name}`).join(", ")}
    FROM json_to_recordset(?) AS ended (id text COLLATE "C", attempt integer, recipient_id text COLLATE "C")
      JOIN recipient ON recipient.id = ended.recipient_id
      LEFT JOIN delivery ON delivery.id = ended.id AND delivery.state = 'sending' AND attempts = ended.attempt AND claimed_by = ?
    ORDER BY recipient.id FOR NO KEY UPDATE OF recipient`,
  record: `WITH ended AS MATERIALIZED (SELECT * FROM json_to_recordset(?) AS ended (id text COLLATE "C", attempt integer,
      state text, spent integer, interruptions integer, due_at bigint, finished_at bigint, started_at bigint,
      duration_ms bigint, outcome text, status integer, message text, answer text, is_probe smallint)),
    recorded AS (UPDATE delivery SET state = ended.state, spent = ended.spent, interruptions = ended.interruptions,
        due_at = coalesce(ended.due_at, delivery.due_at), finished_at = ended.finished_at,
        last_status = coalesce(ended.status, last_status), claimed_at = NULL, claimed_by = NULL
      FROM ended WHERE delivery.id = ended.id AND delivery.state = 'sending' AND attempts = ended.attempt AND claimed_by = ?
      RETURNING delivery.id)
    INSERT INTO attempt (delivery_id, number, started_at, duration_ms, outcome, status, message, answer, is_probe)
      SELECT id, attempt, started_at, duration_ms, outcome, status, message, answer, is_probe
      FROM ended WHERE id IN (SELECT id FROM recorded)
    RETURNING delivery_id`,
  members: `UPDATE delivery SET state = ?, spent = ?, interruptions = ?, due_at = coalesce(?, due_at), finished_at = ?,
      last_status = coalesce(?, last_status), claimed_by = NULL
    WHERE id IN (SELECT value FROM json_each(?)) AND state = 'sending' AND claimed_by = ?`,
} as const;

/** An attempt that ended, with its recipient as it is now. */
interface EndedRow extends SituationRow {
  readonly delivery_id: string;
  readonly is_own: boolean;
}

/** An attempt and what follows from it. */
interface Settled extends RecordedAttempt {
  readonly ended: EndedAttempt;
  readonly isOwn: boolean;
}

/** Records how attempts ended, as `Claims.finish` says: all of them with one statement. */
export function createFinish(self: string) {
  return function* (attempts: readonly EndedAttempt[], now: number): Steps<(RecordedAttempt | null)[]> {
    if (attempts.length === 0) return [];
    const asked = attempts.map(({ delivery: { id, attempt, recipientId } }) => ({
      id,
      attempt,
      recipient_id: recipientId,
    }));
    const rows = yield* all(
      prepared<EndedRow>("ended attempts", FINISH_SQL.recipients, JSON.stringify(asked), self),
    );
    const { settled, changed } = settleAll(attempts, new Map(rows.map((row) => [row.delivery_id, row])), now);
    const recorded = yield* record(
      settled.filter(({ isOwn }) => isOwn),
      self,
      now,
    );
    for (const each of settled)
      if (each.ended.delivery.memberIds.length > 0) yield* recordMembers(each, self, now);
    for (const parameters of changed) yield* run(text(SITUATION_SQL.update, ...parameters));
    const byId = new Map(settled.map((each) => [each.ended.delivery.id, each]));
    return attempts.map(({ delivery: { id } }) => (recorded.has(id) ? (byId.get(id) ?? null) : null));
  };
}

/** One after the other, because each may change its recipient. Those of deleted recipients are left out. */
function settleAll(
  attempts: readonly EndedAttempt[],
  rows: ReadonlyMap<string, EndedRow>,
  now: number,
): { readonly settled: readonly Settled[]; readonly changed: readonly (readonly unknown[])[] } {
  const first = new Map<string, RecipientSituation>();
  const last = new Map<string, RecipientSituation>();
  const settled: Settled[] = [];
  for (const ended of attempts) {
    const { recipientId, id, spent, interruptions, isProbe } = ended.delivery;
    const row = rows.get(id);
    if (row === undefined) continue;
    const before = last.get(recipientId) ?? toSituation(row);
    if (!first.has(recipientId)) first.set(recipientId, before);
    const time = { now, random: ended.random };
    const after = settleAttempt(
      { ...before, spent, interruptions, isProbe },
      ended.result,
      ended.transport.policy,
      time,
    );
    settled.push({ ended, isOwn: row.is_own, before: before.recipientState, after });
    if (row.is_own) last.set(recipientId, after);
  }
  const changed = [...last].flatMap(([id, after]) => {
    const before = first.get(id);
    const parameters = before && changedSituation(id, before, after);
    return parameters ? [parameters] : [];
  });
  return { settled, changed };
}

/** The ids of the deliveries that were still those of their attempts. */
function* record(settled: readonly Settled[], self: string, now: number): Steps<ReadonlySet<string>> {
  if (settled.length === 0) return new Set();
  const rows = JSON.stringify(settled.map((each) => toRow(each, now)));
  const recorded = yield* all(
    prepared<{ readonly delivery_id: string }>("record attempts", FINISH_SQL.record, rows, self),
  );
  return new Set(recorded.map((row) => row.delivery_id));
}

function toRow({ ended: { delivery, result }, after }: Settled, now: number) {
  const isDelivered = after.state === "delivered";
  return {
    id: delivery.id,
    attempt: delivery.attempt,
    state: after.state,
    spent: after.spent,
    interruptions: after.interruptions,
    due_at: after.dueAt,
    finished_at: isDelivered ? now : null,
    started_at: delivery.claimedAt,
    duration_ms: result.durationMs,
    outcome: result.outcome,
    status: result.status,
    message: isDelivered ? null : storable(result.message),
    answer: result.answer === null ? null : storable(result.answer),
    is_probe: delivery.isProbe ? 1 : 0,
  };
}

/** PostgreSQL's text has no NUL and no half of a pair, and its JSON gives neither. */
function storable(said: string): string {
  return said.toWellFormed().replaceAll("\0", "\uFFFD");
}

/** Even if the submission of the message itself was deleted meanwhile. */
function* recordMembers({ ended, after }: Settled, self: string, now: number): Steps<void> {
  const { state, spent, interruptions, dueAt } = after;
  const finishedAt = state === "delivered" ? now : null;
  const members = JSON.stringify(ended.delivery.memberIds);
  const values = [state, spent, interruptions, dueAt, finishedAt, ended.result.status];
  yield* run(text(FINISH_SQL.members, ...values, members, self));
}
