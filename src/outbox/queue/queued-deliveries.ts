import { sql } from "kysely";
import { query } from "../../database/database.ts";
import { all, first, type Steps, text } from "../../database/steps.ts";
import { listed } from "../../database/list-parameter.ts";
import type { Delivery } from "./delivery.ts";
import type { QueuedMessage } from "./outbox.ts";
import type { RecipientState } from "./recipient.ts";

/** The number of rows of the outbox that are read at once. */
const ROWS_AT_ONCE = 100;

/** Selects messages of the outbox. A member that is null does not narrow the selection. */
export interface QueuedPart {
  readonly kinds: readonly string[] | null;
  readonly recipientId: string | null;
  /** The endpoints of the recipients. */
  readonly endpointIds: readonly string[] | null;
  readonly submissionId: string | null;
  readonly id: string | null;
  /** Selects messages whose ids are smaller than this one. */
  readonly before: string | null;
}

export const EVERYTHING_QUEUED: QueuedPart = {
  kinds: null,
  recipientId: null,
  endpointIds: null,
  submissionId: null,
  id: null,
  before: null,
};

/**
 * Calls `look` for each message in the outbox, in the form of the delivery that it will become, the oldest or the newest first, until
 * `look` returns true. If the selection names a submission or a message, only the rows that contain its id are read.
 */
export function* lookThroughQueued(
  part: QueuedPart,
  end: "oldest" | "newest",
  look: (delivery: Delivery) => boolean,
): Steps<void> {
  let after: number | null = null;
  for (;;) {
    const rows: QueuedRow[] = yield* all(selectRows(part, end, after));
    for (const row of rows) {
      for (const [id, submissionId] of selectMessages(row, part, end)) {
        const submission = yield* first(text("SELECT 1 FROM submission WHERE id = ?", submissionId));
        if (submission !== undefined && look(toDelivery(row, id, submissionId))) return;
      }
      after = row.number;
    }
    if (rows.length < ROWS_AT_ONCE) return;
  }
}

interface QueuedRow {
  readonly number: number;
  readonly recipient_id: string;
  readonly queued_at: number;
  readonly messages: string;
  readonly state: RecipientState;
}

/** The messages of a row that belong to the selection, in the order in which they are looked through. */
function selectMessages(
  row: QueuedRow,
  { submissionId, before }: QueuedPart,
  end: "oldest" | "newest",
): readonly QueuedMessage[] {
  const messages = JSON.parse(row.messages) as QueuedMessage[];
  const selected = messages.filter(
    ([id, of]) => (submissionId === null || of === submissionId) && (before === null || id < before),
  );
  return end === "oldest" ? selected : selected.reverse();
}

function toDelivery(row: QueuedRow, id: string, submissionId: string): Delivery {
  const isPending = row.state === "enabled";
  return {
    id,
    recipientId: row.recipient_id,
    submissionId,
    state: isPending ? "pending" : "held",
    attempts: 0,
    spent: 0,
    dueAt: isPending ? row.queued_at : null,
    lastStatus: null,
    leadId: null,
    others: 0,
  };
}

function selectRows(
  { kinds, recipientId, endpointIds, submissionId, id }: QueuedPart,
  end: "oldest" | "newest",
  after: number | null,
) {
  let rows = query
    .selectFrom("outbox")
    .innerJoin("recipient", "recipient.id", "outbox.recipient_id")
    .select(["number", "recipient_id", "queued_at", "messages", "recipient.state"])
    .orderBy("number", end === "oldest" ? "asc" : "desc")
    .limit(ROWS_AT_ONCE);
  if (after !== null) rows = rows.where("number", end === "oldest" ? ">" : "<", after);
  if (kinds !== null) rows = rows.where("recipient.kind", "in", kinds);
  if (recipientId !== null) rows = rows.where("recipient_id", "=", recipientId);
  if (endpointIds !== null) rows = rows.where(sql<boolean>`recipient.endpoint_id IN ${listed(endpointIds)}`);
  // No escaping is needed: an id has no character with a meaning in LIKE, except the `_` of its prefix.
  for (const named of [submissionId, id])
    if (named !== null) rows = rows.where(sql<boolean>`messages LIKE ${`%"${named}"%`}`);
  return rows;
}

/**
 * The numbers of messages in the outbox for enabled recipients, and for the others; read from an index alone.
 *
 * @param kind the kind of the recipients; null means every kind.
 */
export function* countQueued(
  kind: string | null,
): Steps<{ readonly pending: number; readonly held: number }> {
  const counted = yield* all(
    query
      .selectFrom("outbox")
      .innerJoin("recipient", "recipient.id", "outbox.recipient_id")
      .select(["recipient.state", ({ fn }) => fn.sum<number>("message_count").as("messages")])
      .$if(kind !== null, (some) => some.where("recipient.kind", "=", kind ?? ""))
      .groupBy("recipient.state"),
  );
  const sum = (isPending: boolean): number =>
    counted
      .filter(({ state }) => (state === "enabled") === isPending)
      .reduce((total, { messages }) => total + messages, 0);
  return { pending: sum(true), held: sum(false) };
}

/** The messages in the outbox for one recipient; `isPending` is false if they are kept until the recipient is enabled. */
export function* countQueuedFor(recipientId: string): Steps<{
  readonly messages: number;
  readonly oldestAt: number | null;
  readonly isPending: boolean;
}> {
  const counted = yield* first(
    query
      .selectFrom("outbox")
      .innerJoin("recipient", "recipient.id", "outbox.recipient_id")
      .select(({ fn }) => [
        "recipient.state",
        fn.sum<number>("message_count").as("messages"),
        fn.min<number>("queued_at").as("oldest_at"),
      ])
      .where("recipient_id", "=", recipientId)
      .groupBy("recipient.state"),
  );
  if (counted === undefined) return { messages: 0, oldestAt: null, isPending: false };
  const { state, messages, oldest_at: oldestAt } = counted;
  return { messages, oldestAt, isPending: state === "enabled" };
}

/** When the oldest message to an enabled recipient of a kind was queued, in milliseconds since 1970; null if none waits. */
export function* oldestQueuedAt(kind: string): Steps<number | null> {
  const oldest = yield* first(
    query
      .selectFrom("outbox")
      .innerJoin("recipient", "recipient.id", "outbox.recipient_id")
      .select("queued_at")
      .where("recipient.state", "=", "enabled")
      .where("recipient.kind", "=", kind)
      .orderBy("number")
      .limit(1),
  );
  return oldest?.queued_at ?? null;
}
