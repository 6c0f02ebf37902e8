import { all, run, type Steps, text } from "../../database/steps.ts";
import { newId } from "../../foundation/id.ts";
import { choose } from "./choose-recipients.ts";
import type { ConditionData } from "./conditions.ts";
import { type EventParts, type NotifiedSubmission, renderAround } from "./event.ts";
import { INSERT_ROW_SQL, type QueuedMessage } from "./outbox.ts";
import { REPLY_KIND } from "./recipient.ts";
import { type KnownRecipient, RECIPIENTS_OF_ENDPOINT_SQL } from "../engines/sqlite-recipient-memory.ts";

/**
 * Queues one submission for every recipient of its endpoint that wants it, in the transaction that stores it. The result goes
 * into the submission's row. A server sees it as it sees what another process queued. Whoever posted gets no reply.
 *
 * @param readConditionData what conditions are checked against, read only if a recipient has some; without it they count as met.
 */
export function* queueSubmission(
  submission: NotifiedSubmission,
  now: number,
  readConditionData?: () => Steps<ConditionData>,
): Steps<EventParts> {
  const { id, endpointId, spamScore } = submission;
  const known = yield* all(text<KnownRecipient>(RECIPIENTS_OF_ENDPOINT_SQL, endpointId));
  const wanting = known.filter(({ kind, max_spam_score: max }) => kind !== REPLY_KIND && max >= spamScore);
  const isNeeded = readConditionData !== undefined && wanting.some(({ conditions }) => conditions !== null);
  const { chosen, notSent } = choose(wanting, isNeeded ? yield* readConditionData() : undefined);
  for (const recipient of chosen) {
    const messages: readonly QueuedMessage[] = [[newId("msg", now), id]];
    yield* run(text(INSERT_ROW_SQL, recipient.id, now, messages.length, JSON.stringify(messages)));
  }
  const [first] = chosen;
  if (first === undefined) return { head: null, tail: null, notSent };
  return { ...renderAround(submission, first.endpoint_name, now), notSent };
}
