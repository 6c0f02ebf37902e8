import { z } from "zod";
import { toIsoTime } from "../foundation/clock.ts";
import { type Attempt, type Delivery, DELIVERY_STATES } from "../outbox/queue/delivery.ts";

/** A delivery in a list that may also contain messages without a recipient. */
export interface ListedDelivery extends Omit<Delivery, "recipientId" | "submissionId"> {
  /** Null if the message goes to no recipient of an endpoint. */
  readonly recipientId: string | null;
  /** Null if the message is about no submission. */
  readonly submissionId: string | null;
}

/** The members of every delivery after its ids. */
export const deliveryMembers = {
  submission_id: z.string().nullable(),
  state: z.enum(DELIVERY_STATES),
  attempts: z.number().describe("All attempts made, probes and interrupted ones included."),
  attempts_spent: z.number().describe("The number of attempts that count towards the schedule of attempts."),
  next_attempt_at: z.string().nullable(),
  last_status: z.number().nullable(),
};

export function deliveryMembersJson(delivery: ListedDelivery) {
  return {
    submission_id: delivery.submissionId,
    state: delivery.state,
    attempts: delivery.attempts,
    attempts_spent: delivery.spent,
    next_attempt_at: delivery.dueAt === null ? null : toIsoTime(delivery.dueAt),
    last_status: delivery.lastStatus,
  };
}

export const attemptShape = z.strictObject({
  number: z.number().describe("The number of the attempt; 1 is the first."),
  started_at: z.string(),
  duration_ms: z.number(),
  outcome: z.string(),
  status: z.number().nullable(),
  message: z.string().nullable(),
  answer: z.string().nullable().describe("The beginning of what the receiver answered."),
  probe: z.boolean(),
});

export function attemptJson(attempt: Attempt): z.output<typeof attemptShape> {
  return {
    number: attempt.number,
    started_at: toIsoTime(attempt.startedAt),
    duration_ms: attempt.durationMs,
    outcome: attempt.outcome,
    status: attempt.status,
    message: attempt.message,
    answer: attempt.answer,
    probe: attempt.isProbe,
  };
}
