import type { SqliteDatabase } from "../../database/sqlite/sqlite-database.ts";
import type { Steps } from "../../database/steps.ts";
import { newId } from "../../foundation/id.ts";
import { choose, decidedNow, type KnownRecipient } from "./choose-recipients.ts";
import type { ConditionData } from "./conditions.ts";
import { type EventParts, type NotifiedSubmission, renderAround } from "./event.ts";
import { REPLY_KIND } from "./recipient.ts";
import { createRecipientMemory } from "../engines/sqlite-recipient-memory.ts";

/** The id of a message and that of its submission, as in a row of the outbox. */
export type QueuedMessage = readonly [id: string, submissionId: string];

/** A submission, with facts about its sender that only the post has. */
export interface PostedSubmission {
  readonly submission: NotifiedSubmission & { readonly data: Readonly<Record<string, unknown>> };
  /** The IP address of the sender's client, even if less of it is stored. */
  readonly address: string;
  /** Whether the honeypot was filled. */
  readonly trapped: boolean;
  /** The fields of the schema that the post was checked with, by their names. */
  readonly fields: ConditionData["fields"];
  /** Returns the tag of the language for the automatic reply; null or absent if the post does not say. */
  readonly language?: () => string | null;
  /** The time until which all messages but the automatic reply wait for the scan of its files; null or absent if they do not wait. */
  readonly waitsUntil?: number | null;
}

/**
 * Queues a submission for every recipient of its endpoint that wants it. The result is to be stored in the submission's row. If that row is
 * not stored after all, nothing is sent.
 *
 * @param posted the post; without it there is no automatic reply, and no condition is checked.
 */
export type Enqueue = (submission: NotifiedSubmission, now: number, posted?: PostedSubmission) => EventParts;

/**
 * Decides whether the sender of a post gets an automatic reply, and counts the reply. Runs in the transaction that stores the post.
 *
 * @param recipientId the recipient of the kind {@link REPLY_KIND}, which stands for the sender.
 */
export type MayReply = (recipientId: string, posted: PostedSubmission, now: number) => Steps<boolean>;

/** The queue in the database: code that stores submissions adds messages, and the deliverer takes them out. */
export interface Outbox {
  /** Registers the deliverer, which is called after each commit that queued messages. */
  onQueued(listener: () => void): void;
  /** Call after the commit of these messages: it wakes the deliverer. */
  announce(messages: NewMessages): void;
  /** The ids of the recipients that messages were queued for since the last call. */
  takeTouched(): Set<string>;
  /** The number of messages queued since the process began. */
  queuedSoFar(): number;
  /** Call after this process changed recipients. Changes by other processes are noticed. */
  forget(): void;
}

export interface SqliteOutbox extends Outbox {
  /**
   * Runs a transaction that stores submissions. The messages that `work` queues are written last, in few rows, and the deliverer is woken
   * after the commit.
   *
   * @throws as {@link SqliteDatabase.transactionNow} does; nothing is queued then.
   */
  transactionNow<Result>(work: (enqueue: Enqueue) => Result): Result;
}

/** The largest number of messages in one row. It is small because a row is rewritten when only some of its messages are taken. */
const MAX_MESSAGES_A_ROW = 64;

export const INSERT_ROW_SQL =
  "INSERT INTO outbox (recipient_id, queued_at, message_count, messages) VALUES (?, ?, ?, ?)";

/**
 * For batches that read their recipients from the database: this outbox keeps no recipients in memory, so {@link Outbox.forget} does
 * nothing.
 */
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

/** @param mayReply null sends no automatic replies. */
export function createSqliteOutbox(db: SqliteDatabase, mayReply: MayReply | null = null): SqliteOutbox {
  const outbox = createOutbox();
  const recipients = createRecipientMemory(db);
  const insertRow = db.prepare(INSERT_ROW_SQL);
  const isReplied = (known: readonly KnownRecipient[], now: number, posted?: PostedSubmission): boolean => {
    const reply = posted && replyTo(known, posted.submission);
    return reply && mayReply ? db.now(() => mayReply(reply.id, posted, now)) : false;
  };
  return {
    ...outbox,
    transactionNow(work) {
      const messages = new NewMessages();
      const enqueue: Enqueue = (submission, now, posted) => {
        const known = recipients.read(submission.endpointId);
        const conditionData = posted && { data: posted.submission.data, fields: posted.fields };
        const replied = isReplied(known, now, posted);
        return messages.add(submission, known, now, {
          isReplied: replied,
          isLater: waits(posted),
          conditionData,
        });
      };
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

/** The recipient that stands for the sender of the post; undefined if there is none, or if it does not want this submission. */
export function replyTo(
  recipients: readonly KnownRecipient[],
  { spamScore }: NotifiedSubmission,
): KnownRecipient | undefined {
  return recipients.find(({ kind, max_spam_score: max }) => kind === REPLY_KIND && max >= spamScore);
}

/** Whether only the automatic reply is queued with the post, and the other messages later. */
function waits(posted: Pick<PostedSubmission, "waitsUntil"> | undefined): boolean {
  return (posted?.waitsUntil ?? null) !== null;
}

interface AddedParts {
  /** Whether the sender gets an automatic reply. */
  readonly isReplied?: boolean;
  /** Whether the other messages are queued later. Their recipients are chosen now. */
  readonly isLater?: boolean;
  /** The post that conditions are checked against; without it they count as met. */
  readonly conditionData?: ConditionData | undefined;
}

/** The messages that one transaction queues. */
export class NewMessages {
  readonly #byRecipient = new Map<string, QueuedMessage[]>();
  #queuedAt = 0;
  count = 0;

  /** Queues a submission for each of its endpoint's recipients that want it. The result is to be stored in the submission's row. */
  add(
    submission: NotifiedSubmission,
    recipients: readonly KnownRecipient[],
    now: number,
    { isReplied = false, isLater = false, conditionData }: AddedParts = {},
  ): EventParts {
    const { id, spamScore } = submission;
    const wanting = recipients.filter(
      ({ kind, max_spam_score: max }) => max >= spamScore && (kind !== REPLY_KIND || isReplied),
    );
    const choice = choose(wanting, conditionData);
    const chosen = isLater ? choice.chosen.filter(({ kind }) => kind === REPLY_KIND) : choice.chosen;
    const decided = isLater ? decidedNow(choice) : { notSent: choice.notSent };
    const [first] = chosen;
    if (first === undefined) return { head: null, tail: null, ...decided };
    for (const recipient of chosen) this.#queue(recipient.id, [newId("msg", now), id]);
    this.#queuedAt = now;
    return { ...renderAround(submission, first.endpoint_name, now), ...decided };
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
