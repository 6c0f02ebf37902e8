import type { SqliteDatabase } from "../../database/sqlite/sqlite-database.ts";
import { ONLY_SERVER } from "../../database/live-servers.ts";
import { LIMIT_PARAMETER, TEXT_PARAMETER } from "../../database/parameters.ts";
import { all, runNow } from "../../database/steps.ts";
import { LIST, LISTED_IDS, listParameter } from "../../database/list-parameter.ts";
import {
  ALONE,
  BODY_SQL,
  bytesOf,
  type ClaimedDelivery,
  type ClaimMarks,
  IS_LEFT_BY_LEAD,
  OWN_BODY_SQL,
} from "../sending/claimed-delivery.ts";
import type { AheadWant, Claims, Want } from "../sending/claims.ts";
import { selectSending } from "../sending/recover-deliveries.ts";
import { createFinish } from "./sqlite-finish.ts";
import type { QueuedMessage } from "../queue/outbox.ts";

interface ClaimableRow {
  readonly id: string;
  readonly attempts: number;
  readonly spent: number;
  readonly interruptions: number;
  readonly body: string;
}

interface OutboxRow {
  readonly number: number;
  readonly queued_at: number;
  readonly messages: string;
}

/** Messages of a recipient that may be claimed. Those that go with another message are left out, because they follow it. */
const CLAIMABLE_SQL = `SELECT delivery.id, delivery.due_at, delivery.attempts, delivery.spent, delivery.interruptions, ${OWN_BODY_SQL} AS body
  FROM delivery JOIN submission ON submission.id = delivery.submission_id
  WHERE delivery.recipient_id = ${TEXT_PARAMETER} AND delivery.state = 'pending' AND delivery.lead_id IS NULL`;

export const CLAIM_SQL = {
  earliest: `SELECT min(due_at) AS due FROM delivery
    WHERE recipient_id = ${TEXT_PARAMETER} AND state = 'pending' AND lead_id IS NULL`,
  due: `${CLAIMABLE_SQL} AND delivery.due_at <= ? ORDER BY delivery.due_at LIMIT ${LIMIT_PARAMETER}`,
  probe: `${CLAIMABLE_SQL} ORDER BY delivery.due_at LIMIT 1`,
  mark: `UPDATE delivery SET state = 'sending', attempts = attempts + 1, claimed_at = ?, is_probe = ?
    WHERE id = ? AND state = 'pending'`,
  markMembers: `UPDATE delivery SET state = 'sending'
    WHERE state IN ('pending', 'held') AND id IN ${LISTED_IDS}`,
  giveBack: `UPDATE delivery SET state = 'pending', attempts = attempts - 1, claimed_at = NULL
    WHERE id = ? AND state = 'sending' AND attempts = ?`,
  giveMembersBack: `UPDATE delivery SET state = 'pending'
    WHERE id IN ${LISTED_IDS} AND state = 'sending' AND ${IS_LEFT_BY_LEAD}`,
  queuedAt: `SELECT queued_at FROM outbox WHERE recipient_id = ${TEXT_PARAMETER} ORDER BY number LIMIT 1`,
  queued: `SELECT number, queued_at, messages FROM outbox
    WHERE recipient_id = ${TEXT_PARAMETER} ORDER BY number LIMIT 1`,
  // One statement for all of a row's messages takes half as long as one for each.
  bodies: `SELECT ${BODY_SQL} FROM ${LIST} AS wanted LEFT JOIN submission ON submission.id = wanted.key`,
  insert: `INSERT INTO delivery (id, submission_id, recipient_id, state, attempts, due_at, claimed_at, is_probe)
    VALUES (?, ?, ?, 'sending', 1, ?, ?, ?)`,
  deleteRow: "DELETE FROM outbox WHERE number = ?",
  shortenRow: "UPDATE outbox SET message_count = ?, messages = ? WHERE number = ?",
} as const;

/** The claims on SQLite: prepared statements, one call for each row, because a call of the driver takes only microseconds. */
export function createClaims(db: SqliteDatabase): Claims {
  const earliestDue = createEarliestDue(db);
  const claimDue = createDueClaim(db);
  const claimFromOutbox = createOutboxClaim(db);
  const mark = db.prepare(CLAIM_SQL.mark);
  const markMembers = db.prepare(CLAIM_SQL.markMembers);
  const giveBack = db.prepare(CLAIM_SQL.giveBack);
  const giveMembersBack = db.prepare(CLAIM_SQL.giveMembersBack);
  const finish = createFinish(db);
  const claim = (recipientId: string, room: Room, now: number): ClaimedDelivery[] => {
    const due = claimDue(recipientId, room, now);
    return room.messages > 0
      ? [...due, ...claimFromOutbox(recipientId, room, { isProbe: false, claimedAt: now })]
      : due;
  };
  const claimAll = (wants: readonly (Want & Partial<AheadWant>)[], now: number) =>
    runNow(
      () => new Map(wants.map((want) => [want.recipientId, claim(want.recipientId, new Room(want), now)])),
    );
  return {
    servers: ONLY_SERVER,
    isShared: false,
    unconfirmed: null,
    earliestDue: (ids) => runNow(() => new Map(ids.map((id) => [id, earliestDue(id)]))),
    claimDue: claimAll,
    claimAhead: claimAll,
    claimProbe: createProbeClaim(db, claimFromOutbox),
    claimFromOutbox: (want, now) =>
      runNow(() => claimFromOutbox(want.recipientId, new Room(want), { isProbe: false, claimedAt: now })),
    claimOne: (id, now) => runNow(() => mark.run(now, 0, id).changes === 1),
    claimMembers: (ids) => runNow(() => void markMembers.run(listParameter(ids))),
    giveBack: (deliveries) =>
      runNow(() => {
        for (const { id, attempt, memberIds } of deliveries) {
          giveBack.run(id, attempt);
          if (memberIds.length > 0) giveMembersBack.run(listParameter(memberIds));
        }
      }),
    finish,
    readAbandoned: () => all(selectSending()),
    // On SQLite the process always learns whether its commit succeeded.
    giveBackUnknown: () => runNow(() => undefined),
    // Another process that writes is noticed at the next commit, and then everything is read again.
    readQueued: () => runNow(() => []),
  };
}

/** How many messages and bytes a claim may still take for one recipient. */
class Room {
  /** The number of messages that may still be taken; 0 after one whose body did not fit. */
  messages: number;
  #bytes: number;

  constructor({ limit, bytes = Number.POSITIVE_INFINITY }: Want & Partial<AheadWant>) {
    this.messages = limit;
    this.#bytes = bytes;
  }

  /** Takes a message with this body if there is room. Returns whether it was taken. */
  take(body: string): boolean {
    this.#bytes -= bytesOf(body);
    if (this.#bytes < 0) this.messages = 0;
    if (this.messages === 0) return false;
    this.messages -= 1;
    return true;
  }
}

function createEarliestDue(db: SqliteDatabase): (recipientId: string) => number | null {
  const queuedAt = db.prepare(CLAIM_SQL.queuedAt).pluck();
  const earliest = db.prepare(CLAIM_SQL.earliest).pluck();
  return (recipientId) =>
    queuedAt.get(recipientId) === undefined ? (earliest.get(recipientId) as number | null) : 0;
}

function createDueClaim(db: SqliteDatabase) {
  const select = db.prepare(CLAIM_SQL.due);
  const mark = db.prepare(CLAIM_SQL.mark);
  return (recipientId: string, room: Room, now: number): ClaimedDelivery[] => {
    const rows: ClaimableRow[] = [];
    for (const row of select.iterate(recipientId, now, room.messages) as Iterable<ClaimableRow>) {
      if (!room.take(row.body)) break;
      rows.push(row);
    }
    return rows.map((row) => {
      mark.run(now, 0, row.id);
      return toClaimed(row, recipientId, { isProbe: false, claimedAt: now });
    });
  };
}

function createProbeClaim(db: SqliteDatabase, claimFromOutbox: OutboxClaim): Claims["claimProbe"] {
  const queuedAt = db.prepare(CLAIM_SQL.queuedAt).pluck();
  const select = db.prepare(CLAIM_SQL.probe);
  const mark = db.prepare(CLAIM_SQL.mark);
  return (recipientId, now) =>
    runNow(() => {
      const marks: ClaimMarks = { isProbe: true, claimedAt: now };
      const queued = queuedAt.get(recipientId) as number | undefined;
      const row = select.get(recipientId) as (ClaimableRow & { readonly due_at: number }) | undefined;
      if (queued !== undefined && (row === undefined || queued < row.due_at))
        return claimFromOutbox(recipientId, new Room({ recipientId, limit: 1 }), marks);
      if (row === undefined) return [];
      mark.run(now, 1, row.id);
      return [toClaimed(row, recipientId, marks)];
    });
}

function toClaimed(row: ClaimableRow, recipientId: string, marks: ClaimMarks): ClaimedDelivery {
  const { id, attempts, spent, interruptions, body } = row;
  const before = { attempt: attempts + 1, spent, interruptions };
  return { id, recipientId, ...before, ...marks, body, ...ALONE };
}

type OutboxClaim = (recipientId: string, room: Room, marks: ClaimMarks) => ClaimedDelivery[];

/** Claims the oldest messages in the outbox. They become deliveries in the state `sending`. */
function createOutboxClaim(db: SqliteDatabase): OutboxClaim {
  const selectRow = db.prepare(CLAIM_SQL.queued);
  const selectBodies = db.prepare(CLAIM_SQL.bodies).pluck();
  const insert = db.prepare(CLAIM_SQL.insert);
  const deleteRow = db.prepare(CLAIM_SQL.deleteRow);
  const shortenRow = db.prepare(CLAIM_SQL.shortenRow);
  const readBodies = (messages: readonly QueuedMessage[], room: Room): (string | null)[] => {
    const bodies: (string | null)[] = [];
    const ids = messages.slice(0, room.messages).map(([, submissionId]) => submissionId);
    for (const body of selectBodies.iterate(listParameter(ids)) as Iterable<string | null>) {
      if (body !== null && !room.take(body)) break;
      bodies.push(body);
    }
    return bodies;
  };
  return (recipientId, room, marks) => {
    const { isProbe, claimedAt: now } = marks;
    const claimed: ClaimedDelivery[] = [];
    while (room.messages > 0) {
      const row = selectRow.get(recipientId) as OutboxRow | undefined;
      if (row === undefined) break;
      const messages = JSON.parse(row.messages) as readonly QueuedMessage[];
      // A process whose clock is ahead of this one may have stored the row.
      const dueAt = Math.min(row.queued_at, now);
      const bodies = readBodies(messages, room);
      for (const [index, [id, submissionId]] of messages.slice(0, bodies.length).entries()) {
        const body = bodies[index] as string | null;
        // If the submission was deleted meanwhile, nothing is sent about it.
        if (body === null) continue;
        insert.run(id, submissionId, recipientId, dueAt, now, isProbe ? 1 : 0);
        claimed.push({
          id,
          recipientId,
          attempt: 1,
          spent: 0,
          interruptions: 0,
          ...marks,
          body,
          ...ALONE,
        });
      }
      const rest = messages.slice(bodies.length);
      if (rest.length === 0) deleteRow.run(row.number);
      else if (bodies.length > 0) shortenRow.run(rest.length, JSON.stringify(rest), row.number);
    }
    return claimed;
  };
}
