import { type Selectable, sql } from "kysely";
import { query } from "../../database/database.ts";
import { all, first, indexedBy, type Steps, text, textByEngine } from "../../database/steps.ts";
import type { Tables } from "../../database/tables.generated.ts";
import { listed, listedIds } from "../../database/list-parameter.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { checkCursor, isId } from "../../foundation/id.ts";
import type { Attempt, Delivery, DeliveryState } from "./delivery.ts";
import { EVERYTHING_QUEUED, lookThroughQueued } from "./queued-deliveries.ts";

/** The largest number of a recipient's messages that one page reads to find delivered ones, which have no index of their own. */
const MAX_LOOKED = 10_000;

/** Sorts after every id. */
const LAST_ID = "msg_~";

export interface DeliveryFilter {
  /** The kinds of the recipients; null means every kind. */
  readonly kinds: readonly string[] | null;
  readonly recipientId: string | null;
  /** The endpoints of the recipients; null or absent means every endpoint. */
  readonly endpointIds?: readonly string[] | null;
  readonly submissionId: string | null;
  readonly state: DeliveryState | null;
  /** The id of the last delivery on the page before; null gives the first page. */
  readonly cursor: string | null;
  readonly limit: number;
}

export interface DeliveryPage {
  readonly deliveries: readonly Delivery[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

/**
 * Deliveries, newest first. If only the delivered messages of one recipient are listed, a page may have fewer than `limit` even if another
 * page follows.
 *
 * @throws not_found if the named submission does not exist; invalid_request if no page returned this cursor.
 */
export function* listDeliveries(filter: DeliveryFilter): Steps<DeliveryPage> {
  checkCursor("msg", filter.cursor);
  if (filter.submissionId !== null) yield* requireSubmission(filter.submissionId, filter.endpointIds ?? null);
  const queued = yield* newestQueued(filter);
  const stored = yield* toDeliveries(yield* readStored(filter));
  const found = newestFirst([...queued, ...stored]);
  const deliveries = found.slice(0, filter.limit);
  const nextCursor =
    found.length > filter.limit ? (deliveries.at(-1)?.id ?? null) : yield* lastLookedAt(filter);
  return { deliveries, nextCursor };
}

function* readStored(filter: DeliveryFilter): Steps<Selectable<Tables["delivery"]>[]> {
  const { kinds, recipientId, endpointIds = null, submissionId, state, cursor, limit } = filter;
  const wanted = limit + 1;
  let rows = query.selectFrom("delivery").selectAll().orderBy("id", "desc").limit(wanted);
  if (submissionId !== null) rows = rows.where("submission_id", "=", submissionId);
  if (cursor !== null) rows = rows.where("id", "<", cursor);
  if (endpointIds !== null) rows = rows.where(isOfEndpoints(endpointIds));
  if (isByState(filter)) return yield* all(rows.where("id", "in", listedIds(yield* newestIds(filter))));
  if (kinds !== null && recipientId === null) rows = rows.where(isOfKind(kinds));
  if (recipientId !== null) rows = rows.where("recipient_id", "=", recipientId);
  if (state !== null) rows = rows.where("state", "=", state);
  return yield* all(rows);
}

/** A subquery, so that the kind is looked up row by row and the newest are found without reading all deliveries. */
function isOfKind(kinds: readonly string[]) {
  return sql<boolean>`(SELECT recipient.kind FROM recipient WHERE recipient.id = delivery.recipient_id) IN (${sql.join(kinds)})`;
}

/** A condition on `delivery`. The ids are one parameter, because an account may see more endpoints than a statement takes parameters. */
export function isOfEndpoints(endpointIds: readonly string[]) {
  return sql<boolean>`recipient_id IN (SELECT recipient.id FROM recipient WHERE recipient.endpoint_id IN ${listed(endpointIds)})`;
}

type ByState = DeliveryFilter & { readonly recipientId: string; readonly state: DeliveryState };

function isByState(filter: DeliveryFilter): filter is ByState {
  return filter.recipientId !== null && filter.state !== null && filter.submissionId === null;
}

/**
 * The newest ids in a state. A recipient may have millions of deliveries: each state but `delivered` has a small index, and for `delivered`
 * only the newest are read.
 */
function* newestIds({ recipientId, state, cursor, limit }: ByState): Steps<string[]> {
  const wanted = [recipientId, cursor ?? LAST_ID, limit + 1];
  const built =
    state === "delivered"
      ? text<{ id: string }>(NEWEST_DELIVERED_SQL, ...wanted)
      : textByEngine<{ id: string }>(newestSql(state), ...wanted);
  return (yield* all(built)).map(({ id }) => id);
}

const NEWEST_DELIVERED_SQL = `SELECT id FROM
  (SELECT id, state FROM delivery WHERE recipient_id = ? AND id < ? ORDER BY id DESC LIMIT ${MAX_LOOKED}) AS newest
  WHERE state = 'delivered' ORDER BY id DESC LIMIT ?`;

export function newestSql(state: Exclude<DeliveryState, "delivered">) {
  return indexedBy(
    `delivery_${state}`,
    (indexed) => `SELECT id FROM delivery ${indexed}
    WHERE recipient_id = ? AND state = '${state}' AND id < ? ORDER BY id DESC LIMIT ?`,
  );
}

/** The id at which the search for delivered messages stopped; null if it read all of the recipient's messages. */
function* lastLookedAt(filter: DeliveryFilter): Steps<string | null> {
  if (!isByState(filter) || filter.state !== "delivered") return null;
  const last = newestOf(filter)
    .limit(1)
    .offset(MAX_LOOKED - 1);
  return (yield* first(last))?.id ?? null;
}

function newestOf({ recipientId, cursor }: ByState) {
  const rows = query
    .selectFrom("delivery")
    .select(["id", "state"])
    .where("recipient_id", "=", recipientId)
    .orderBy("id", "desc");
  return cursor === null ? rows : rows.where("id", "<", cursor);
}

/**
 * Checks that the submission exists: for a misspelt id, an empty page would suggest that all is well. @param endpointIds null means every
 * endpoint.
 */
function* requireSubmission(id: string, endpointIds: readonly string[] | null): Steps<void> {
  const row = yield* first(text<{ endpoint_id: string }>(ENDPOINT_OF_SQL, id));
  if (row !== undefined && (endpointIds === null || endpointIds.includes(row.endpoint_id))) return;
  throw new FormsvcError("not_found", `there is no submission ${id}`);
}

const ENDPOINT_OF_SQL = `SELECT endpoint_id FROM submission
  JOIN endpoint_number ON endpoint_number.number = submission.endpoint_number WHERE submission.id = ?`;

/** The newest messages in the outbox, one more than the page takes. */
function* newestQueued(filter: DeliveryFilter): Steps<Delivery[]> {
  const { kinds, recipientId, endpointIds = null, submissionId, state, cursor, limit } = filter;
  let found: Delivery[] = [];
  if (state !== null && state !== "pending" && state !== "held") return found;
  const part = { ...EVERYTHING_QUEUED, kinds, recipientId, endpointIds, submissionId, before: cursor };
  yield* lookThroughQueued(part, "newest", (delivery) => {
    if (state === null || delivery.state === state) found.push(delivery);
    if (found.length > 4 * limit) found = newestFirst(found).slice(0, limit + 1);
    // Only the rows of one recipient are in order, because those of several recipients are written at once.
    return recipientId !== null && found.length > limit;
  });
  return found;
}

function newestFirst(deliveries: readonly Delivery[]): Delivery[] {
  return deliveries.toSorted((one, other) => (one.id < other.id ? 1 : -1));
}

/** @throws not_found */
export function* getDelivery(id: string): Steps<Delivery> {
  const row = yield* first(query.selectFrom("delivery").selectAll().where("id", "=", id));
  if (row !== undefined) {
    const [delivery] = yield* toDeliveries([row]);
    if (delivery !== undefined) return delivery;
  }
  let queued: Delivery | undefined;
  if (isId("msg", id))
    yield* lookThroughQueued({ ...EVERYTHING_QUEUED, id }, "oldest", (delivery) => {
      if (delivery.id === id) queued = delivery;
      return queued !== undefined;
    });
  if (queued === undefined) throw noDelivery(id);
  return queued;
}

export function noDelivery(id: string): FormsvcError {
  return new FormsvcError("not_found", `there is no delivery ${id}`, { hint: { kind: "list_deliveries" } });
}

/** The message of a summary whose Message-ID and attempts hold for all of it; the message itself if it goes by itself. */
export function leadOf({ id, leadId }: Pick<Delivery, "id" | "leadId">): string {
  return leadId ?? id;
}

/** The attempts in the order in which they were made, without one that is under way. */
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

type Row = Selectable<Tables["delivery"]>;

/** What all messages of a summary have in common. */
interface Whole {
  readonly id: string;
  readonly attempts: number;
  readonly others: number;
}

/** Converts rows. A message of a summary gets the number of attempts of the whole summary. */
function* toDeliveries(rows: readonly Row[]): Steps<Delivery[]> {
  if (rows.length === 0) return [];
  const leads = [...new Set(rows.map(({ id, lead_id: leadId }) => leadOf({ id, leadId })))];
  const found: Whole[] = yield* all(selectWholes(leads));
  const wholes = new Map(found.map((whole) => [whole.id, whole]));
  return rows.map((row) => {
    const { attempts = row.attempts, others = 0 } = wholes.get(row.lead_id ?? row.id) ?? {};
    return toDelivery(row, { attempts, others });
  });
}

export function selectWholes(leadIds: readonly string[]) {
  return query
    .selectFrom("delivery")
    .select(["id", "attempts"])
    .select(
      sql<number>`(SELECT count(*) FROM delivery AS member WHERE member.lead_id = delivery.id)`.as("others"),
    )
    .where("id", "in", leadIds);
}

function toDelivery(row: Row, { attempts, others }: Omit<Whole, "id">): Delivery {
  return {
    id: row.id,
    recipientId: row.recipient_id,
    submissionId: row.submission_id,
    state: row.state,
    attempts,
    spent: row.spent,
    dueAt: row.state === "pending" ? row.due_at : null,
    lastStatus: row.last_status,
    leadId: row.lead_id,
    others,
  };
}
