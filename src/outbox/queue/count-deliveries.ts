import { query } from "../../database/database.ts";
import { first, indexedBy, type Steps, text, textByEngine } from "../../database/steps.ts";
import { LISTED, listParameter } from "../../database/list-parameter.ts";
import { timeOfId } from "../../foundation/id.ts";
import { REPLY_KIND } from "./recipient.ts";
import { countQueued, countQueuedFor, oldestQueuedAt } from "./queued-deliveries.ts";

/** The states that are counted. Delivered messages are left out, because counting them would read the whole history. */
const COUNTED_STATES = ["pending", "sending", "held", "failed"] as const;
type CountedState = (typeof COUNTED_STATES)[number];

/** The number of deliveries to recipients of a kind in each state. Messages in the outbox count as `pending` or `held`. */
export function* countDeliveries(kind: string): Steps<Map<string, number>> {
  const queued: Readonly<Partial<Record<string, number>>> = yield* countQueued(kind);
  const counts = new Map<string, number>();
  for (const state of COUNTED_STATES) counts.set(state, (yield* countIn(state, kind)) + (queued[state] ?? 0));
  return counts;
}

/** The number of deliveries to recipients of a kind that failed for good and wait for somebody to replay them. */
export function* countFailed(kind: string): Steps<number> {
  return yield* countIn("failed", kind);
}

/** The number of those that {@link countFailed} counts whose last attempt ended like this. */
export function* countFailedAs(kind: string, outcome: string): Steps<number> {
  return (yield* first(textByEngine<{ count: number }>(FAILED_AS_SQL, kind, outcome)))?.count ?? 0;
}

/** The attempts of a summary belong to its first message. */
const FAILED_AS_SQL = indexedBy(
  "delivery_failed",
  (indexed) => `SELECT count(*) AS count FROM delivery ${indexed}
    WHERE state = 'failed' AND recipient_id IN (SELECT id FROM recipient WHERE kind = ?)
      AND (SELECT outcome FROM attempt WHERE delivery_id = coalesce(delivery.lead_id, delivery.id)
        ORDER BY number DESC LIMIT 1) = ?`,
);

/** Whether anything waits for recipients of a kind, in the outbox or as a delivery. */
export function* hasMessagesFor(kind: string): Steps<boolean> {
  for (const some of WAITING_OF_KIND_SQL) if ((yield* first(text(some, kind))) !== undefined) return true;
  return false;
}

/** The highest exact count: a higher one is shown as "10,000+". */
export const MAX_COUNTED = 10_000;

/** The queue of one recipient. Each count is at most one more than {@link MAX_COUNTED}. */
export interface RecipientQueue {
  /** Messages that are to be sent, or are being sent. */
  readonly waiting: number;
  /** When the oldest waiting message was made, in milliseconds since 1970; null if none waits. */
  readonly oldestAt: number | null;
  /** Messages that are kept until the recipient is enabled. */
  readonly held: number;
  /** Messages that ran out of attempts. */
  readonly failed: number;
  /** The time until which new messages are, or were, gathered to go as one; null if each message goes by itself. */
  readonly gathersUntil: number | null;
}

export function* readQueue(recipientId: string): Steps<RecipientQueue> {
  const pending = yield* lookAt(recipientId, "pending");
  const sending = yield* lookAt(recipientId, "sending");
  const held = yield* lookAt(recipientId, "held");
  const failed = yield* lookAt(recipientId, "failed");
  const queued = yield* countQueuedFor(recipientId);
  const paces = query.selectFrom("recipient_pace").select("gathers_until");
  const pace = yield* first(paces.where("recipient_id", "=", recipientId));
  const begun = [pending.oldest, sending.oldest].flatMap((id) => (id === null ? [] : [timeOfId(id)]));
  const times = queued.oldestAt === null || !queued.isPending ? begun : [...begun, queued.oldestAt];
  const few = (count: number): number => Math.min(count, MAX_COUNTED + 1);
  return {
    waiting: few(pending.count + sending.count + (queued.isPending ? queued.messages : 0)),
    oldestAt: times.length === 0 ? null : Math.min(...times),
    held: few(held.count + (queued.isPending ? 0 : queued.messages)),
    failed: failed.count,
    gathersUntil: pace?.gathers_until ?? null,
  };
}

/** Whether a message to a recipient was sent or tried, as far as the kept deliveries tell. */
export function* wasTried(recipientId: string): Steps<boolean> {
  const kept = query.selectFrom("delivery").select("id").where("recipient_id", "=", recipientId);
  return (yield* first(kept.limit(1))) !== undefined;
}

/** The number of a recipient's deliveries in a state, and the oldest id, read from the small index of that state. */
function* lookAt(recipientId: string, state: CountedState): Steps<Look> {
  return (yield* first(textByEngine<Look>(LOOK_SQL[state], recipientId))) ?? { count: 0, oldest: null };
}

/** Looks at one recipient. The statement names the index, because SQLite would otherwise read everything that the recipient ever got. */
function lookSql(state: CountedState) {
  return indexedBy(
    `delivery_${state}`,
    (indexed) => `SELECT count(*) AS count, min(id) AS oldest FROM
    (SELECT id FROM delivery ${indexed}
      WHERE recipient_id = ? AND state = '${state}' LIMIT ${MAX_COUNTED + 1}) AS looked_at`,
  );
}

export const LOOK_SQL: Readonly<Record<CountedState, ReturnType<typeof lookSql>>> = {
  pending: lookSql("pending"),
  sending: lookSql("sending"),
  held: lookSql("held"),
  failed: lookSql("failed"),
};

interface Look {
  readonly count: number;
  readonly oldest: string | null;
}

const OF_KIND_SQL = "recipient_id IN (SELECT id FROM recipient WHERE kind = ?)";
const WAITING_OF_KIND_SQL = [
  "SELECT 1 FROM recipient JOIN outbox ON outbox.recipient_id = recipient.id WHERE kind = ? LIMIT 1",
  `SELECT 1 FROM recipient JOIN delivery ON delivery.recipient_id = recipient.id
    WHERE kind = ? AND delivery.state = 'pending' LIMIT 1`,
];
/** Automatic replies are left out: a failed one is never sent again, so it waits for nobody. */
const FAILED_EXCEPT_REPLIES_SQL = `SELECT 1 FROM delivery WHERE state = 'failed'
  AND recipient_id IN (SELECT id FROM recipient WHERE kind <> '${REPLY_KIND}')`;
const OF_ENDPOINTS_SQL = `AND recipient_id IN (SELECT id FROM recipient WHERE endpoint_id IN ${LISTED})`;

/**
 * The number of messages about submissions of these endpoints that ran out of attempts; at most one more than {@link MAX_COUNTED}.
 *
 * @param endpointIds null means every endpoint.
 */
export function* countFailedOf(endpointIds: readonly string[] | null): Steps<number> {
  const count = (some: string): string =>
    `SELECT count(*) AS count FROM (${some} LIMIT ${MAX_COUNTED + 1}) AS failed`;
  const counted =
    endpointIds === null
      ? text<{ count: number }>(count(FAILED_EXCEPT_REPLIES_SQL))
      : text<{ count: number }>(
          count(`${FAILED_EXCEPT_REPLIES_SQL} ${OF_ENDPOINTS_SQL}`),
          listParameter(endpointIds),
        );
  return (yield* first(counted))?.count ?? 0;
}

const DUE_SQL = indexedBy(
  "delivery_pending",
  (indexed) => `SELECT min(due_at) AS due_at FROM delivery ${indexed} WHERE state = 'pending'
    AND lead_id IS NULL AND ${OF_KIND_SQL}`,
);

/**
 * When the longest-waiting delivery to recipients of a kind was due; infinity if none waits. A summary is due when its first message is.
 */
export function* oldestDueAt(kind: string): Steps<number> {
  const row = yield* first(textByEngine<{ due_at: number | null }>(DUE_SQL, kind));
  const due = [row?.due_at, yield* oldestQueuedAt(kind)];
  return Math.min(...due.filter((at) => typeof at === "number"));
}

/**
 * The number of deliveries in a state. The statement names the index of the state, because SQLite would otherwise read everything that
 * recipients of the kind ever got.
 */
function* countIn(state: CountedState, kind: string): Steps<number> {
  const sql = indexedBy(
    `delivery_${state}`,
    (indexed) =>
      `SELECT count(*) AS count FROM delivery ${indexed} WHERE state = '${state}' AND ${OF_KIND_SQL}`,
  );
  return (yield* first(textByEngine<{ count: number }>(sql, kind)))?.count ?? 0;
}
