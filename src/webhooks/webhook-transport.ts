import type { SqliteDatabase } from "../database/sqlite/sqlite-database.ts";
import type { Clock } from "../foundation/clock.ts";
import type { Log } from "../foundation/log.ts";
import type { AttemptResult, DeliveryPolicy, Route, Transport } from "../outbox/transport.ts";
import type { Keyring } from "../secrets/keyring.ts";
import { classify } from "./classify.ts";
import { logAttempt } from "./log-attempt.ts";
import { createWebhookReader } from "./open-webhooks.ts";
import { renderRequest } from "./render-request.ts";
import { parseRetryAfter } from "./retry-after.ts";
import type { HttpSender, SendResult } from "./send.ts";
import { type DeliverySettings, WEBHOOK_KIND } from "./webhook.ts";
import type { OpenWebhook } from "./webhook-secrets.ts";

export interface WebhookTransportParts {
  readonly db: SqliteDatabase;
  /** Opens the signing keys and the webhooks' own headers. */
  readonly keyring: Keyring;
  readonly sender: HttpSender;
  readonly settings: DeliverySettings;
  readonly clock: Clock;
  readonly log: Log;
}

/** Sends the outbox's messages to webhooks, over HTTP. */
export function createWebhookTransport(parts: WebhookTransportParts): Transport {
  const { db, keyring, sender, settings, clock, log } = parts;
  const readWebhooks = createWebhookReader(db, keyring, log);
  return {
    kind: WEBHOOK_KIND,
    policy: policyOf(settings),
    routes: (now) => new Map([...readWebhooks(now)].map(([id, open]) => [id, routeTo(open, sender, clock)])),
    report: (ended, record) => logAttempt(log, ended, record),
    destroy: () => sender.destroy(),
  };
}

/** Webhooks on one host share its limit, whatever their paths. */
function routeTo(open: OpenWebhook, sender: HttpSender, clock: Clock): Route {
  return {
    place: new URL(open.url).host,
    async send(message) {
      const result = await sender.send(renderRequest(open, message, clock.now()));
      return judge(result, clock.now());
    },
  };
}

/** The outcome of an attempt, in the words of the outbox. */
export function judge(result: SendResult, now: number): AttemptResult {
  const answer = result.kind === "answer" ? result : null;
  return {
    ...classify(result),
    status: answer?.status ?? null,
    answer: answer?.bodyStart || null,
    retryAfterMs: parseRetryAfter(answer?.retryAfter ?? null, now),
    durationMs: result.durationMs,
  };
}

export function policyOf({ scheduleSeconds, probeSeconds, limits }: DeliverySettings): DeliveryPolicy {
  const { total, perHost, perWebhook } = limits;
  return { scheduleSeconds, probeSeconds, limits: { total, perPlace: perHost, perRecipient: perWebhook } };
}
