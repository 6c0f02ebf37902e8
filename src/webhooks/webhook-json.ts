import { toIsoTime } from "../foundation/clock.ts";
import type { TestResult } from "./send-test.ts";
import type { Webhook } from "./webhook.ts";

/** A webhook as every JSON output shows it. Values of own headers are often credentials, so only their names are shown. */
export function webhookJson(webhook: Webhook) {
  const { settings, breaker } = webhook;
  return {
    id: webhook.id,
    endpoint_id: webhook.endpointId,
    format: settings.format,
    url: settings.url,
    enabled: webhook.state === "enabled",
    state: webhook.state,
    allow_private: settings.allowPrivate,
    max_spam_score: settings.maxSpamScore,
    headers: [...webhook.headers.keys()],
    failing_since: webhook.failingSince === null ? null : toIsoTime(webhook.failingSince),
    next_probe_at: breaker.state === "open" ? toIsoTime(breaker.notBeforeMs) : null,
    created_at: toIsoTime(webhook.createdAt),
  };
}

/** The result of a test message. */
export function testResultJson(result: TestResult) {
  return {
    id: result.messageId,
    webhook_id: result.webhookId,
    url: result.url,
    outcome: result.outcome,
    status: result.status,
    duration_ms: result.durationMs,
    message: result.message,
  };
}
