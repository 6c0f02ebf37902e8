import { all, run, type Steps, text } from "../../database/steps.ts";
import { newId } from "../../foundation/id.ts";
import {
  type DecidedRecipients,
  choose,
  decidedNow,
  type KnownRecipient,
  RECIPIENTS_OF_ENDPOINT_SQL,
} from "./choose-recipients.ts";
import type { ConditionData } from "./conditions.ts";
import { type EventParts, type NotifiedSubmission, renderAround } from "./event.ts";
import { INSERT_ROW_SQL, type QueuedMessage } from "./outbox.ts";
import { REPLY_KIND } from "./recipient.ts";

/** Reads the data that conditions are checked against. It is called only if a recipient has conditions; without it they count as met. */
type ReadConditionData = () => Steps<ConditionData>;

/**
 * Queues one submission for every recipient of its endpoint that wants it, in the transaction that stores it. The result is to be stored in
 * the submission's row. A server notices the messages like those of another process. There is no automatic reply.
 */
export function* queueSubmission(
  submission: NotifiedSubmission,
  now: number,
  readConditionData?: ReadConditionData,
): Steps<EventParts> {
  const { chosen, notSent } = yield* decide(submission, readConditionData);
  return { ...(yield* queueFor(submission, chosen, now)), notSent };
}

/** Like {@link queueSubmission}, but the recipients are only chosen: {@link queueWaiting} queues the messages later. */
export function* decideWaiting(
  submission: NotifiedSubmission,
  readConditionData: ReadConditionData,
): Steps<EventParts> {
  return { head: null, tail: null, ...decidedNow(yield* decide(submission, readConditionData)) };
}

/** Queues the messages that waited, for each chosen recipient that still exists. @param waiting as {@link EventParts} has it. */
export function* queueWaiting(
  submission: NotifiedSubmission,
  now: number,
  waiting: string,
): Steps<Pick<EventParts, "head" | "tail">> {
  const ids = new Set(JSON.parse(waiting) as string[]);
  const known = yield* all(text<KnownRecipient>(RECIPIENTS_OF_ENDPOINT_SQL, submission.endpointId));
  return yield* queueFor(
    submission,
    known.filter(({ id }) => ids.has(id)),
    now,
  );
}

function* decide(
  { endpointId, spamScore }: NotifiedSubmission,
  readConditionData?: ReadConditionData,
): Steps<DecidedRecipients> {
  const known = yield* all(text<KnownRecipient>(RECIPIENTS_OF_ENDPOINT_SQL, endpointId));
  const wanting = known.filter(({ kind, max_spam_score: max }) => kind !== REPLY_KIND && max >= spamScore);
  const isNeeded = readConditionData !== undefined && wanting.some(({ conditions }) => conditions !== null);
  return choose(wanting, isNeeded ? yield* readConditionData() : undefined);
}

function* queueFor(
  submission: NotifiedSubmission,
  chosen: readonly KnownRecipient[],
  now: number,
): Steps<Pick<EventParts, "head" | "tail">> {
  for (const recipient of chosen) {
    const messages: readonly QueuedMessage[] = [[newId("msg", now), submission.id]];
    yield* run(text(INSERT_ROW_SQL, recipient.id, now, messages.length, JSON.stringify(messages)));
  }
  const [first] = chosen;
  return first === undefined
    ? { head: null, tail: null }
    : renderAround(submission, first.endpoint_name, now);
}
