import type { Steps } from "../database/steps.ts";
import { toIsoTime } from "../foundation/clock.ts";
import { type Finding, problem, sound } from "../foundation/finding.ts";
import { countFailed } from "../outbox/queue/count-deliveries.ts";
import { listRecipients } from "../outbox/queue/recipient-store.ts";
import type { Recipient } from "../outbox/queue/recipient.ts";
import { WEBHOOK_KIND } from "./webhook.ts";
import { WEBHOOKS } from "./webhook-store.ts";
import { HOUR_MS } from "../foundation/time-units.ts";

/**
 * The least time of failing that is reported, because a receiver may fail for a moment while it is deployed. A recipient that gets only
 * probes is always reported.
 */
const LONG_FAILING_MS = HOUR_MS;

/** A finding for each webhook that is stopped, gets only probes or has failed for an hour. If there is none, a single sound finding. */
export function* checkReceivers(now: number): Steps<Finding[]> {
  const recipients = yield* listRecipients(WEBHOOK_KIND, null);
  const ill = yield* WEBHOOKS.complete(recipients.filter((recipient) => isIll(recipient, now)));
  if (ill.length === 0) return [sound("webhooks.receivers", "no receiver keeps failing")];
  return ill.map(({ id, settings, state, breaker, failingSince }) => {
    const { host } = new URL(settings.url);
    const probes = breaker.state === "open" ? " and gets probes only" : "";
    return problem(
      "webhooks.receivers",
      state === "stopped"
        ? `the receiver ${host} said that it is gone, so nothing is sent there (${id})`
        : `the receiver ${host} has failed since ${toIsoTime(failingSince ?? now)}${probes} (${id})`,
      { kind: "look_at_webhook", webhookId: id },
    );
  });
}

/** Whether a person should look at the webhook. */
export function isIll(
  { state, breaker, failingSince }: Pick<Recipient, "state" | "breaker" | "failingSince">,
  now: number,
): boolean {
  if (state !== "enabled") return state === "stopped";
  return breaker.state === "open" || (failingSince !== null && failingSince < now - LONG_FAILING_MS);
}

/** Deliveries that ran out of attempts and wait for somebody to replay them. */
export function* checkFailedDeliveries(): Steps<Finding> {
  const failed = yield* countFailed(WEBHOOK_KIND);
  if (failed === 0) return sound("webhooks.failed", "no delivery ran out of attempts");
  return problem("webhooks.failed", `${failed} deliveries ran out of attempts`, {
    kind: "replay_failed_deliveries",
  });
}
