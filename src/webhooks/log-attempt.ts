import { webhookAttempted, webhookFailed, webhookFailing, webhookStopped } from "../foundation/events.ts";
import type { Log } from "../foundation/log.ts";
import type { EndedAttempt, RecordedAttempt } from "../outbox/finish-attempts.ts";

/** An attempt that went well is worth a line to who is looking for it; one that changes what happens next, to anybody. */
export function logAttempt(log: Log, { delivery, result }: EndedAttempt, record: RecordedAttempt): void {
  const { before, after } = record;
  const { id: deliveryId, recipientId: webhookId, attempt } = delivery;
  const { outcome, message, durationMs } = result;
  const facts = { webhookId, deliveryId, attempt, outcome, durationMs };
  webhookAttempted(log, facts, message);
  if (after.state === "failed") webhookFailed(log, facts);
  if (after.recipientState === "stopped" && before === "enabled") webhookStopped(log, facts);
  if (after.breaker.state === "open") webhookFailing(log, { ...facts, failingSince: after.failingSince });
}
