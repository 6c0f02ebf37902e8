import { toIsoTime } from "../foundation/clock.ts";
import type { Attempt, Delivery } from "./delivery.ts";

/**
 * A delivery as every JSON output shows it.
 *
 * @param recipientName of the member that has the recipient's id.
 * @param kind of the recipient, if there are several among these; else undefined.
 */
export function deliveryJson(
  delivery: Delivery,
  recipientName: "webhook_id" | "recipient_id",
  kind: string | undefined,
) {
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
