import { toIsoTime } from "../foundation/clock.ts";
import type { Attempt, Delivery } from "./delivery.ts";

/** A delivery as every JSON output shows it. */
export function deliveryJson(delivery: Delivery) {
  return {
    id: delivery.id,
    webhook_id: delivery.recipientId,
    submission_id: delivery.submissionId,
    state: delivery.state,
    attempts: delivery.attempts,
    attempts_spent: delivery.spent,
    next_attempt_at: delivery.dueAt === null ? null : toIsoTime(delivery.dueAt),
    last_status: delivery.lastStatus,
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
