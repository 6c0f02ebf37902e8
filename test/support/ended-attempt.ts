import type { ClaimedDelivery } from "../../src/outbox/sending/claimed-delivery.ts";
import type {
  AttemptResult,
  DeliveryPolicy,
  EndedAttempt,
  Transport,
} from "../../src/outbox/sending/transport.ts";
import { ANSWERED } from "./webhook-world.ts";

const POLICY: DeliveryPolicy = {
  scheduleSeconds: [60, 60],
  probeSeconds: [3600],
  failuresUntilProbes: 2,
  refusalsUntilStopped: 3,
  afterUnsure: null,
  limits: { total: 2, perDestination: 2, perRecipient: 2 },
  pace: null,
};

/** A transport that sends nothing. */
export const PIGEON: Transport = {
  kind: "pigeon",
  sharedKind: "pigeon",
  policy: POLICY,
  routes: () => Promise.resolve(new Map()),
  report: () => undefined,
  destroy: () => Promise.resolve(),
};

/** Makes the end of an attempt. It delivered the message, unless `result` says otherwise. */
export function ended(delivery: ClaimedDelivery, result: Partial<AttemptResult> = {}): EndedAttempt {
  return { delivery, transport: PIGEON, result: { ...ANSWERED, ...result }, random: 0 };
}
