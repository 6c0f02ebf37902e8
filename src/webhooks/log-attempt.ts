import type { Log } from "../foundation/log.ts";
import type { EndedAttempt, RecordedAttempt } from "./finish-attempts.ts";

/** An attempt that went well is worth a line to who is looking for it; one that changes what happens next, to anybody. */
export function logAttempt(log: Log, { delivery, result }: EndedAttempt, record: RecordedAttempt): void {
  const { verdict, before, after } = record;
  const { id: deliveryId, webhookId, attempt } = delivery;
  const { outcome, message } = verdict;
  const facts = { webhookId, deliveryId, attempt, outcome, durationMs: result.durationMs };
  log.debug({ event: "webhook.attempt", ...facts }, message);
  if (after.state === "failed")
    log.error({ event: "webhook.failed", ...facts }, "a delivery ran out of attempts");
  if (after.webhookState === "stopped" && before === "enabled") {
    log.error({ event: "webhook.stopped", ...facts }, "the receiver is gone: its deliveries are held");
  }
  if (after.health.breaker === "open") {
    const { failingSince } = after;
    log.warn({ event: "webhook.failing", ...facts, failingSince }, "the receiver keeps failing: probes only");
  }
}
