import { LIMIT_PARAMETER, TEXT_PARAMETER } from "../../database/parameters.ts";
import { all, run, type Steps, text } from "../../database/steps.ts";
import { LISTED_IDS, listParameter } from "../../database/list-parameter.ts";
import { BULK_BATCH } from "../queue/delivery.ts";
import { spreadFor } from "./spread-outbox.ts";

/** The largest number of messages in one summary; more wait for the next. */
const MOST_TOGETHER = 1000;

const PENDING = `state = 'pending' AND id IN ${LISTED_IDS}`;

export const GATHER_SQL = {
  freshIds: `SELECT id FROM delivery WHERE recipient_id = ${TEXT_PARAMETER} AND state = 'pending' AND lead_id IS NULL
    AND due_at <= ? AND attempts = 0 ORDER BY lead_id, due_at LIMIT ${LIMIT_PARAMETER}`,
  postpone: `UPDATE delivery SET due_at = ? WHERE ${PENDING}`,
  join: `UPDATE delivery SET lead_id = ? WHERE ${PENDING}`,
} as const;

/** The message that leads a summary. */
interface Lead {
  readonly id: string;
  /** Whether more messages wait than one summary takes. */
  readonly isRestLeft: boolean;
}

/**
 * Plans the new messages of a recipient for later, up to a batch. What is left is still due, and the next round comes to it. Call inside a
 * transaction.
 */
export function* postpone(recipientId: string, until: number, now: number): Steps<void> {
  yield* spreadFor(recipientId, until);
  const ids = yield* freshIds(recipientId, now, BULK_BATCH);
  if (ids.length > 0) yield* run(text(GATHER_SQL.postpone, until, listParameter(ids)));
}

/**
 * Makes one summary of the new messages that wait. Its members do not change any more. Returns null if none waits. Call inside a
 * transaction.
 */
export function* joinLead(recipientId: string, now: number): Steps<Lead | null> {
  yield* spreadFor(recipientId, now);
  const ids = yield* freshIds(recipientId, now, MOST_TOGETHER + 1);
  const [id, ...members] = ids.slice(0, MOST_TOGETHER).toSorted();
  if (id === undefined) return null;
  if (members.length > 0) yield* run(text(GATHER_SQL.join, id, listParameter(members)));
  return { id, isRestLeft: ids.length > MOST_TOGETHER };
}

function* freshIds(recipientId: string, now: number, most: number): Steps<string[]> {
  const rows = yield* all(text<{ readonly id: string }>(GATHER_SQL.freshIds, recipientId, now, most));
  return rows.map(({ id }) => id);
}
