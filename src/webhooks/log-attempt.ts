import {
  webhookAttempted,
  webhookFailed,
  webhookFailing,
  webhookStopped,
} from "../foundation/delivery-events.ts";
import type { Log } from "../foundation/log.ts";
import type { EndedAttempt, RecordedAttempt } from "../outbox/sending/transport.ts";

/** Logs an attempt: a successful one for debugging, and one that changes the recipient's state for everybody. */
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
