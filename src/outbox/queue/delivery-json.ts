import { toIsoTime } from "../../foundation/clock.ts";
import type { Attempt, Delivery } from "./delivery.ts";

/** A delivery in a list, in which there may be messages of other kinds beside those to recipients. */
export interface ListedDelivery extends Omit<Delivery, "recipientId" | "submissionId"> {
  /** What it is, if there are several kinds among these. */
  readonly kind?: string;
  /** Null if it goes to no recipient of an endpoint. */
  readonly recipientId: string | null;
  /** Null if it is about no submission. */
  readonly submissionId: string | null;
}

/**
 * A delivery as every JSON output shows it.
 *
 * @param recipientName of the member that has the recipient's id.
 */
export function deliveryJson(delivery: ListedDelivery, recipientName: "webhook_id" | "recipient_id") {
  const { kind } = delivery;
  return {
    id: delivery.id,
    [recipientName]: delivery.recipientId,
    ...(kind !== undefined && { kind }),
    submission_id: delivery.submissionId,
    state: delivery.state,
    attempts: delivery.attempts,
    attempts_spent: delivery.spent,
    next_attempt_at: delivery.dueAt === null ? null : toIsoTime(delivery.dueAt),
    last_status: delivery.lastStatus,
    // Only e-mail is gathered.
    ...(recipientName === "recipient_id" && { summary_id: delivery.leadId }),
  };
}

export function attemptJson(attempt: Attempt) {
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
