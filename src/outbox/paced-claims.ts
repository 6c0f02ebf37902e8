import type { SqliteDatabase } from "../database/sqlite/sqlite-database.ts";
import { ALONE, type ClaimedDelivery } from "./claims.ts";
import { BULK_BATCH } from "./delivery.ts";
import type { QueuedMessage } from "./outbox.ts";
import { FRESH_PACE, nextStep, noteBegun, type PaceState } from "./pace.ts";
import {
  CLAIM_SQL,
  CLAIMABLE_SQL,
  type ClaimableRow,
  createQueuedClaim,
  LIMIT_PARAMETER,
  TEXT_PARAMETER,
} from "./sqlite-claims.ts";
import type { Pace } from "./transport.ts";

/** Most messages in one summary; more wait for the next. */
const MOST_TOGETHER = 1000;
/** Most messages of a summary whose bodies are read. */
const MOST_BODIES = 50;

/** A recipient whose transport has a pace. */
export interface PacedRecipient {
  readonly recipientId: string;
  readonly pace: Pace;
  /** As `Route.gatherSeconds` has it. */
  readonly gatherSeconds: number | null;
}

/**
 * Claims due messages within the pace: those that were tried before, then new ones, each by itself or all as one. New ones that
 * must wait are planned for later. Inside a transaction.
 */
export type PacedClaim = (recipient: PacedRecipient, limit: number, now: number) => ClaimedDelivery[];

const PENDING = "state = 'pending' AND id IN (SELECT value FROM json_each(?))";
/** Recipients are enabled in batches: a summary may be released while some of its messages are held still, and goes whole. */
const WAITING = "state IN ('pending', 'held')";

export const PACED_SQL = {
  freshIds: `SELECT id FROM delivery WHERE recipient_id = ${TEXT_PARAMETER} AND state = 'pending' AND lead_id IS NULL
    AND due_at <= ? AND attempts = 0 ORDER BY due_at LIMIT ${LIMIT_PARAMETER}`,
  one: `${CLAIMABLE_SQL} AND delivery.id = ${TEXT_PARAMETER}`,
  postpone: `UPDATE delivery SET due_at = ? WHERE ${PENDING}`,
  insert: `INSERT INTO delivery (id, submission_id, recipient_id, state, due_at) SELECT ?, id, ?, 'pending', ?
    FROM submission WHERE id = ?`,
  join: `UPDATE delivery SET lead_id = ? WHERE ${PENDING}`,
  members: `SELECT id FROM delivery WHERE lead_id = ${TEXT_PARAMETER} AND ${WAITING} ORDER BY id`,
  markMembers: `UPDATE delivery SET state = 'sending' WHERE ${WAITING} AND id IN (SELECT value FROM json_each(?))`,
  bodies: `SELECT CAST(iif(event_tail IS NULL, event_head, event_head || submission.data || event_tail) AS BLOB)
    FROM json_each(?) AS member JOIN delivery ON delivery.id = member.value
    JOIN submission ON submission.id = delivery.submission_id`,
  readPace: "SELECT * FROM recipient_pace WHERE recipient_id = ?",
  writePace: "INSERT OR REPLACE INTO recipient_pace VALUES (?, ?, ?, ?, ?, ?)",
} as const;

export function createPacedClaim(db: SqliteDatabase): PacedClaim {
  const selectDue = db.prepare(CLAIM_SQL.due);
  const takeQueued = createQueuedClaim(db);
  const claim = createGroupClaim(db);
  const paces = createPaceStore(db);
  const gathering = createGathering(db);

  const claimEach = (
    recipientId: string,
    fresh: readonly ClaimableRow[],
    most: number,
    now: number,
  ): ClaimedDelivery[] => {
    const begun = fresh.slice(0, most).map((row) => claim(recipientId, row, now));
    const rest = most - begun.length;
    return rest > 0 ? [...begun, ...takeQueued(recipientId, rest, false, now)] : begun;
  };

  const claimTogether = (recipient: PacedRecipient, state: PaceState, now: number): ClaimedDelivery[] => {
    const { recipientId, pace } = recipient;
    const lead = gathering.join(recipientId, now);
    const begun = lead === null ? [] : [claim(recipientId, lead.row, now)];
    const windowMs = pace.perRecipientInWindow.seconds * 1000;
    const gathersUntil = lead?.isRestLeft === true ? now + windowMs : null;
    paces.write(recipientId, { ...noteBegun(state, pace, begun.length, now), gathersUntil });
    return begun;
  };

  const claimFresh = (
    recipient: PacedRecipient,
    fresh: readonly ClaimableRow[],
    most: number,
    now: number,
  ): ClaimedDelivery[] => {
    const { recipientId, pace, gatherSeconds } = recipient;
    const state = paces.read(recipientId);
    const step = nextStep(state, pace, gatherSeconds, now);
    if (step.kind === "together") return claimTogether(recipient, state, now);
    if (step.kind === "wait") {
      gathering.postpone(recipientId, step.until, now);
      if (state.gathersUntil !== step.until) paces.write(recipientId, { ...state, gathersUntil: step.until });
      return [];
    }
    const begun = claimEach(recipientId, fresh, Math.min(step.most, most), now);
    if (begun.length > 0) paces.write(recipientId, noteBegun(state, pace, begun.length, now));
    return begun;
  };

  return (recipient, limit, now) => {
    const { recipientId } = recipient;
    const due = selectDue.all(recipientId, now, limit) as ClaimableRow[];
    const again = due.filter(({ attempts }) => attempts > 0).map((row) => claim(recipientId, row, now));
    const fresh = due.filter(({ attempts }) => attempts === 0);
    const most = limit - again.length;
    return most > 0 ? [...again, ...claimFresh(recipient, fresh, most, now)] : again;
  };
}

/** Claims one message with those that go with it. */
function createGroupClaim(db: SqliteDatabase) {
  const mark = db.prepare(CLAIM_SQL.mark);
  const selectMembers = db.prepare(PACED_SQL.members).pluck();
  const markMembers = db.prepare(PACED_SQL.markMembers);
  const selectBodies = db.prepare(PACED_SQL.bodies).pluck();
  return (recipientId: string, row: ClaimableRow, now: number): ClaimedDelivery => {
    const { id, attempts, spent, interruptions, body } = row;
    mark.run(now, 0, id);
    const before = { attempt: attempts + 1, spent, interruptions };
    const claimed = { id, recipientId, ...before, isProbe: false, claimedAt: now, body };
    const memberIds = selectMembers.all(id) as string[];
    if (memberIds.length === 0) return { ...claimed, ...ALONE };
    markMembers.run(JSON.stringify(memberIds));
    const shown = JSON.stringify(memberIds.slice(0, MOST_BODIES - 1));
    return { ...claimed, memberIds, memberBodies: selectBodies.all(shown) as Buffer[] };
  };
}

interface Lead {
  readonly row: ClaimableRow;
  /** Whether more wait than one summary takes. */
  readonly isRestLeft: boolean;
}

/** Plans new messages for later, and makes one of those that wait. */
function createGathering(db: SqliteDatabase) {
  const selectRow = db.prepare(CLAIM_SQL.queued);
  const deleteRow = db.prepare(CLAIM_SQL.deleteRow);
  const insert = db.prepare(PACED_SQL.insert);
  const postpone = db.prepare(PACED_SQL.postpone);
  const freshIds = db.prepare(PACED_SQL.freshIds).pluck();
  const selectOne = db.prepare(PACED_SQL.one);
  const joinLead = db.prepare(PACED_SQL.join);

  /** Messages that are not deliveries yet; those of deleted submissions are dropped. */
  const spread = (recipientId: string, dueAt: number): void => {
    let count = 0;
    while (count < BULK_BATCH) {
      const row = selectRow.get(recipientId) as { number: number; messages: string } | undefined;
      if (row === undefined) return;
      for (const [id, submissionId] of JSON.parse(row.messages) as QueuedMessage[]) {
        insert.run(id, recipientId, dueAt, submissionId);
        count += 1;
      }
      deleteRow.run(row.number);
    }
  };

  return {
    /** Up to a batch; what is left is still due, and comes in the next round. */
    postpone(recipientId: string, until: number, now: number): void {
      spread(recipientId, until);
      const ids = freshIds.all(recipientId, now, BULK_BATCH);
      if (ids.length > 0) postpone.run(until, JSON.stringify(ids));
    },
    /** The members are fixed from here on. Null if nothing waits. */
    join(recipientId: string, now: number): Lead | null {
      spread(recipientId, now);
      const ids = freshIds.all(recipientId, now, MOST_TOGETHER + 1) as string[];
      const [leadId, ...members] = ids.slice(0, MOST_TOGETHER).toSorted();
      if (leadId === undefined) return null;
      if (members.length > 0) joinLead.run(leadId, JSON.stringify(members));
      return {
        row: selectOne.get(recipientId, leadId) as ClaimableRow,
        isRestLeft: ids.length > MOST_TOGETHER,
      };
    },
  };
}

interface PaceRow {
  readonly window_at: number;
  readonly window_sent: number;
  readonly hour_at: number;
  readonly hour_sent: number;
  readonly gathers_until: number | null;
}

function createPaceStore(db: SqliteDatabase) {
  const select = db.prepare(PACED_SQL.readPace);
  const put = db.prepare(PACED_SQL.writePace);
  return {
    read(recipientId: string): PaceState {
      const row = select.get(recipientId) as PaceRow | undefined;
      if (row === undefined) return FRESH_PACE;
      return {
        windowAt: row.window_at,
        windowSent: row.window_sent,
        hourAt: row.hour_at,
        hourSent: row.hour_sent,
        gathersUntil: row.gathers_until,
      };
    },
    write(recipientId: string, state: PaceState): void {
      const { windowAt, windowSent, hourAt, hourSent, gathersUntil } = state;
      put.run(recipientId, windowAt, windowSent, hourAt, hourSent, gathersUntil);
    },
  };
}
