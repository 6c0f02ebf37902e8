import { mailAttempted, mailFailed, mailStopped, mailWaiting } from "../foundation/delivery-events.ts";
import type { Log } from "../foundation/log.ts";
import type { EndedAttempt, RecordedAttempt } from "../outbox/sending/transport.ts";

/** The log line has ids and no address, because more people read a log than the database. */
export function logMailAttempt(
  log: Log,
  place: string,
  { delivery, result }: EndedAttempt,
  { before, after }: RecordedAttempt,
): void {
  const { id: deliveryId, recipientId, attempt, memberIds } = delivery;
  const { outcome, message, durationMs } = result;
  const facts = { recipientId, deliveryId, submissions: memberIds.length + 1, attempt, outcome, durationMs };
  mailAttempted(log, facts, message);
  if (result.blame === "destination") mailWaiting(log, { place, outcome, reason: message });
  if (after.state === "failed") mailFailed(log, facts);
  if (after.recipientState === "stopped" && before === "enabled") mailStopped(log, facts);
}
