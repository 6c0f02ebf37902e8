import { type Selectable, sql } from "kysely";
import { query } from "../database/database.ts";
import { all, first, type Steps, text } from "../database/steps.ts";
import type { Tables } from "../database/tables.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { checkCursor } from "../foundation/id.ts";
import type { Attempt, Delivery, DeliveryState } from "./delivery.ts";
import { EVERYTHING_QUEUED, lookThroughQueued } from "./queued-deliveries.ts";

export const MAX_DELIVERY_PAGE = 1000;

const HAS_OWN_INDEX: ReadonlySet<DeliveryState> = new Set(["failed", "held", "sending"]);

export interface DeliveryFilter {
  readonly recipientId: string | null;
  readonly submissionId: string | null;
  readonly state: DeliveryState | null;
  /** The id of the last delivery of the page before; null is the first page. */
  readonly cursor: string | null;
  readonly limit: number;
}

export interface DeliveryPage {
  readonly deliveries: readonly Delivery[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

/** Newest first. @throws not_found when the named submission is not there; invalid_request on a cursor that no page returned. */
export function* listDeliveries(filter: DeliveryFilter): Steps<DeliveryPage> {
  checkCursor("msg", filter.cursor);
  if (filter.submissionId !== null) yield* requireSubmission(filter.submissionId);
  const queued = yield* newestQueued(filter);
  let rows = query
    .selectFrom("delivery")
    .selectAll()
    .orderBy("id", "desc")
    .limit(filter.limit + 1);
  if (filter.recipientId !== null) rows = rows.where("recipient_id", "=", filter.recipientId);
  if (filter.submissionId !== null) rows = rows.where("submission_id", "=", filter.submissionId);
  if (filter.state !== null) {
    // The small index of a state that is written out has the order of the list.
    const state = HAS_OWN_INDEX.has(filter.state) ? sql.lit(filter.state) : filter.state;
    rows = rows.where("state", "=", state);
  }
  if (filter.cursor !== null) rows = rows.where("id", "<", filter.cursor);
  const stored = (yield* all(rows)).map(toDelivery);
  const found = newestFirst([...queued, ...stored]);
  const deliveries = found.slice(0, filter.limit);
  return { deliveries, nextCursor: found.length > filter.limit ? (deliveries.at(-1)?.id ?? null) : null };
}

/** For a misspelt id, an empty page would suggest that all is well. */
function* requireSubmission(id: string): Steps<void> {
  if ((yield* first(text("SELECT 1 FROM submission WHERE id = ?", id))) !== undefined) return;
  throw new FormsvcError("not_found", `there is no submission ${id}`);
}

/** As many messages of the outbox as fit on the page. */
function* newestQueued(filter: DeliveryFilter): Steps<Delivery[]> {
  const { recipientId, submissionId, state, cursor, limit } = filter;
  let found: Delivery[] = [];
  if (state !== null && state !== "pending" && state !== "held") return found;
  yield* lookThroughQueued({ recipientId, submissionId }, (delivery) => {
    const isMeant = (state === null || delivery.state === state) && (cursor === null || delivery.id < cursor);
    if (isMeant) found.push(delivery);
    if (found.length > 4 * limit) found = newestFirst(found).slice(0, limit + 1);
    return false;
  });
  return found;
}

function newestFirst(deliveries: readonly Delivery[]): Delivery[] {
  return deliveries.toSorted((one, other) => (one.id < other.id ? 1 : -1));
}

/** @throws not_found */
export function* getDelivery(id: string): Steps<Delivery> {
  const row = yield* first(query.selectFrom("delivery").selectAll().where("id", "=", id));
  if (row !== undefined) return toDelivery(row);
  let queued: Delivery | undefined;
  yield* lookThroughQueued(EVERYTHING_QUEUED, (delivery) => {
    if (delivery.id === id) queued = delivery;
    return queued !== undefined;
  });
  if (queued === undefined) {
    throw new FormsvcError("not_found", `there is no delivery ${id}`, { hint: { kind: "list_deliveries" } });
  }
  return queued;
}

/** In the order in which they were made, without the one under way. */
export function* listAttempts(deliveryId: string): Steps<Attempt[]> {
  const rows = query
    .selectFrom("attempt")
    .selectAll()
    .where("delivery_id", "=", deliveryId)
    .orderBy("number");
  return (yield* all(rows)).map(toAttempt);
}

/** The last attempt that has ended; undefined before the first. */
export function* findLastAttempt(deliveryId: string): Steps<Attempt | undefined> {
  const rows = query.selectFrom("attempt").selectAll().where("delivery_id", "=", deliveryId);
  const row = yield* first(rows.orderBy("number", "desc").limit(1));
  return row && toAttempt(row);
}

function toAttempt(row: Selectable<Tables["attempt"]>): Attempt {
  return {
    number: row.number,
    startedAt: row.started_at,
    durationMs: row.duration_ms,
    outcome: row.outcome,
    status: row.status,
    message: row.message,
    answer: row.answer,
    isProbe: row.is_probe === 1,
  };
}

function toDelivery(row: Selectable<Tables["delivery"]>): Delivery {
  return {
    id: row.id,
    recipientId: row.recipient_id,
    submissionId: row.submission_id,
    state: row.state,
    attempts: row.attempts,
    spent: row.spent,
    dueAt: row.state === "pending" ? row.due_at : null,
    lastStatus: row.last_status,
  };
}
