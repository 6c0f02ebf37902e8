import type { Database } from "../database/database.ts";
import type { Clock } from "../foundation/clock.ts";
import type { Log } from "../foundation/log.ts";
import type { DeliveryPolicy, Route, Transport } from "../outbox/sending/transport.ts";
import type { Keyring } from "../secrets/keyring.ts";
import { makeAttempt } from "./attempt.ts";
import { logAttempt } from "./log-attempt.ts";
import { formWordsReader } from "./form-words.ts";
import { createWebhookReader } from "./open-webhooks.ts";
import type { HttpSender } from "./send.ts";
import { type DeliverySettings, WEBHOOK_KIND } from "./webhook.ts";
import { addressesNow, type OpenWebhook } from "./webhook-secrets.ts";

/** After this number of failures in a row, a webhook gets only probes. */
const FAILURES_UNTIL_PROBES = 5;

export interface WebhookTransportParts {
  readonly db: Database;
  /** Decrypts the signing keys and the values of headers. */
  readonly keyring: Keyring;
  readonly sender: HttpSender;
  /** The address of the dashboard; null if it is not known. */
  readonly dashboardUrl: string | null;
  readonly settings: DeliverySettings;
  readonly clock: Clock;
  readonly log: Log;
}

/** Sends the outbox's messages to webhooks, over HTTP. */
export function createWebhookTransport(parts: WebhookTransportParts): Transport {
  const { db, keyring, sender, dashboardUrl, settings, clock, log } = parts;
  const readWebhooks = createWebhookReader(db, keyring, log);
  const attempt = { sender, dashboardUrl, readFormWords: formWordsReader(db), now: () => clock.now() };
  // Webhooks on one host share its limit, whatever their paths.
  const routeTo = (open: OpenWebhook): Route => ({
    destination: new URL(open.url).host,
    address: open.addressMark,
    gatherSeconds: null,
    send: (message) => makeAttempt(attempt, open, message),
  });
  return {
    kind: WEBHOOK_KIND,
    sharedKind: WEBHOOK_KIND,
    policy: policyOf(settings),
    routes: async (now) => new Map([...(await readWebhooks(now))].map(([id, open]) => [id, routeTo(open)])),
    addressesNow,
    report: (ended, record) => logAttempt(log, ended, record),
    destroy: () => sender.destroy(),
  };
}

export function policyOf({ scheduleSeconds, probeSeconds, limits }: DeliverySettings): DeliveryPolicy {
  const { total, perHost, perWebhook } = limits;
  return {
    scheduleSeconds,
    probeSeconds,
    failuresUntilProbes: FAILURES_UNTIL_PROBES,
    // A receiver that refuses one message may take the next: only its breaker slows it down.
    refusalsUntilStopped: Number.POSITIVE_INFINITY,
    // An attempt with an unknown end may be made again, because receivers drop a repeated id.
    afterUnsure: null,
    limits: { total, perDestination: perHost, perRecipient: perWebhook },
    pace: null,
  };
}
