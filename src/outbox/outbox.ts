import type { SqliteDatabase } from "../database/sqlite/sqlite-database.ts";
import { newId } from "../foundation/id.ts";
import { type EventParts, NO_EVENT, type NotifiedSubmission, renderAround } from "./event.ts";
import { createRecipientMemory } from "./sqlite-recipient-memory.ts";

/** A message's id and its submission's, as a row of the outbox has them. */
export type QueuedMessage = readonly [id: string, submissionId: string];

/**
 * Queues a submission for every recipient of its endpoint that wants it. The result goes into the submission's row.
 * If that row is not stored after all, nothing is sent.
 */
export type Enqueue = (submission: NotifiedSubmission, now: number) => EventParts;

/** The queue in the database: code that stores submissions adds messages, and the deliverer takes them out. */
export interface Outbox {
  /**
   * Runs a transaction that stores submissions: the messages that `work` queues are written last, in few rows, and the deliverer is
   * woken after the commit. @throws as {@link SqliteDatabase.transactionNow} does; nothing is queued then.
   */
  transactionNow<Result>(work: (enqueue: Enqueue) => Result): Result;
  /** Registers the deliverer, which is called after each commit that queued messages. */
  onQueued(listener: () => void): void;
  /** Recipients that got something since the last call. */
  takeTouched(): Set<string>;
  /** How many messages were queued since the process began. */
  queuedSoFar(): number;
  /** This process changed recipients. Changes by other processes are noticed. */
  forget(): void;
}

/** To take only some of a row's messages, the rest of the row is written again. */
const MAX_MESSAGES_A_ROW = 64;

export const INSERT_ROW_SQL =
  "INSERT INTO outbox (recipient_id, queued_at, message_count, messages) VALUES (?, ?, ?, ?)";

export function createOutbox(db: SqliteDatabase): Outbox {
  const recipients = createRecipientMemory(db);
  const insertRow = db.prepare(INSERT_ROW_SQL);
  let touched = new Set<string>();
  let queuedSoFar = 0;
  let wake = (): void => undefined;

  const announce = (queue: Queue): void => {
    queuedSoFar += queue.messageCount;
    for (const recipientId of queue.recipientIds()) touched.add(recipientId);
    if (queue.messageCount > 0) wake();
  };

  const enqueueInto =
    (queue: Queue): Enqueue =>
    (submission, now) => {
      const { id, endpointId, spamScore } = submission;
      const wanting = recipients.read(endpointId).filter(({ max_spam_score: max }) => max >= spamScore);
      const [first] = wanting;
      if (first === undefined) return NO_EVENT;
      for (const recipient of wanting) queue.add(recipient.id, [newId("msg", now), id], now);
      return renderAround(submission, first.endpoint_name, now);
    };

  return {
    transactionNow(work) {
      const queue = new Queue();
      try {
        const result = db.transactionNow(() => {
          const made = work(enqueueInto(queue));
          for (const row of queue.rows()) insertRow.run(...row);
          return made;
        });
        announce(queue);
        return result;
      } finally {
        recipients.endTransaction();
      }
    },
    onQueued(listener) {
      wake = listener;
    },
    takeTouched() {
      const taken = touched;
      touched = new Set();
      return taken;
    },
    queuedSoFar: () => queuedSoFar,
    forget: () => recipients.forget(),
  };
}

type OutboxRow = readonly [recipientId: string, queuedAt: number, messageCount: number, messages: string];

/** The messages that one transaction queues. */
class Queue {
  readonly #byRecipient = new Map<string, QueuedMessage[]>();
  #queuedAt = 0;
  messageCount = 0;

  add(recipientId: string, message: QueuedMessage, now: number): void {
    const messages = this.#byRecipient.get(recipientId);
    if (messages === undefined) this.#byRecipient.set(recipientId, [message]);
    else messages.push(message);
    this.#queuedAt = now;
    this.messageCount += 1;
  }

  recipientIds(): Iterable<string> {
    return this.#byRecipient.keys();
  }

  *rows(): Generator<OutboxRow> {
    for (const [recipientId, messages] of this.#byRecipient) {
      for (let first = 0; first < messages.length; first += MAX_MESSAGES_A_ROW) {
        const some = messages.slice(first, first + MAX_MESSAGES_A_ROW);
        yield [recipientId, this.#queuedAt, some.length, JSON.stringify(some)];
      }
    }
  }
}
