import type { SqliteDatabase } from "../database/sqlite/sqlite-database.ts";
import { newId } from "../foundation/id.ts";
import { type EventParts, NO_EVENT, type NotifiedSubmission, renderAround } from "./event.ts";
import { createRecipientMemory, type KnownRecipient } from "./sqlite-recipient-memory.ts";

/** A message's id and its submission's, as a row of the outbox has them. */
export type QueuedMessage = readonly [id: string, submissionId: string];

/**
 * Queues a submission for every recipient of its endpoint that wants it. The result goes into the submission's row.
 * If that row is not stored after all, nothing is sent.
 */
export type Enqueue = (submission: NotifiedSubmission, now: number) => EventParts;

/** The queue in the database: code that stores submissions adds messages, and the deliverer takes them out. */
export interface Outbox {
  /** Registers the deliverer, which is called after each commit that queued messages. */
  onQueued(listener: () => void): void;
  /** Call after the commit of these messages: the deliverer is woken. */
  announce(messages: NewMessages): void;
  /** Recipients that got something since the last call. */
  takeTouched(): Set<string>;
  /** How many messages were queued since the process began. */
  queuedSoFar(): number;
  /** This process changed recipients. Changes by other processes are noticed. */
  forget(): void;
}

export interface SqliteOutbox extends Outbox {
  /**
   * Runs a transaction that stores submissions: the messages that `work` queues are written last, in few rows, and the deliverer is
   * woken after the commit. @throws as {@link SqliteDatabase.transactionNow} does; nothing is queued then.
   */
  transactionNow<Result>(work: (enqueue: Enqueue) => Result): Result;
}

/** To take only some of a row's messages, the rest of the row is written again. */
const MAX_MESSAGES_A_ROW = 64;

export const INSERT_ROW_SQL =
  "INSERT INTO outbox (recipient_id, queued_at, message_count, messages) VALUES (?, ?, ?, ?)";

/** Where each batch reads its recipients from the database, there is nothing to forget. */
export function createOutbox(): Outbox {
  let touched = new Set<string>();
  let queuedSoFar = 0;
  let wake = (): void => undefined;
  return {
    onQueued(listener) {
      wake = listener;
    },
    announce(messages) {
      queuedSoFar += messages.count;
      for (const recipientId of messages.recipientIds()) touched.add(recipientId);
      if (messages.count > 0) wake();
    },
    takeTouched() {
      const taken = touched;
      touched = new Set();
      return taken;
    },
    queuedSoFar: () => queuedSoFar,
    forget: () => undefined,
  };
}

export function createSqliteOutbox(db: SqliteDatabase): SqliteOutbox {
  const outbox = createOutbox();
  const recipients = createRecipientMemory(db);
  const insertRow = db.prepare(INSERT_ROW_SQL);
  return {
    ...outbox,
    transactionNow(work) {
      const messages = new NewMessages();
      const enqueue: Enqueue = (submission, now) =>
        messages.add(submission, recipients.read(submission.endpointId), now);
      try {
        const result = db.transactionNow(() => {
          const made = work(enqueue);
          for (const row of messages.rows()) insertRow.run(...row);
          return made;
        });
        outbox.announce(messages);
        return result;
      } finally {
        recipients.endTransaction();
      }
    },
    forget: () => recipients.forget(),
  };
}

type OutboxRow = readonly [recipientId: string, queuedAt: number, messageCount: number, messages: string];

/** The messages that one transaction queues. */
export class NewMessages {
  readonly #byRecipient = new Map<string, QueuedMessage[]>();
  #queuedAt = 0;
  count = 0;

  /** Queues a submission for those of its endpoint's recipients that want it. The result goes into the submission's row. */
  add(submission: NotifiedSubmission, recipients: readonly KnownRecipient[], now: number): EventParts {
    const { id, spamScore } = submission;
    const wanting = recipients.filter(({ max_spam_score: max }) => max >= spamScore);
    const [first] = wanting;
    if (first === undefined) return NO_EVENT;
    for (const recipient of wanting) this.#queue(recipient.id, [newId("msg", now), id]);
    this.#queuedAt = now;
    return renderAround(submission, first.endpoint_name, now);
  }

  #queue(recipientId: string, message: QueuedMessage): void {
    const messages = this.#byRecipient.get(recipientId);
    if (messages === undefined) this.#byRecipient.set(recipientId, [message]);
    else messages.push(message);
    this.count += 1;
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
