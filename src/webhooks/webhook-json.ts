import { z } from "zod";
import { toIsoTime } from "../foundation/clock.ts";
import { volatile } from "../operations/marks.ts";
import { conditionsShape } from "../recipients/condition-json.ts";
import { WEBHOOK_FORMATS } from "./formats/format.ts";
import type { TestResult } from "./send-test.ts";
import type { Webhook } from "./webhook.ts";

export const webhookShape = z.strictObject({
  id: z.string(),
  endpoint_id: z.string(),
  format: z.enum(WEBHOOK_FORMATS),
  url: z.string().describe("Where it leads; that of a chat is a secret, and shown shortened."),
  enabled: z.boolean(),
  state: z.enum(["enabled", "disabled", "stopped"]).describe("Stopped: its receiver said that it is gone."),
  allow_private: z.boolean().describe("Whether addresses of private networks may be reached."),
  max_spam_score: z.number().describe("Nothing with a higher spam score is sent."),
  conditions: conditionsShape,
  headers: z.array(z.string()).describe("The names of its own headers; their values are never shown."),
  failing_since: volatile(z.string().nullable()),
  next_probe_at: volatile(
    z.string().nullable().describe("Null unless it gets one message at a time, to see if it is back."),
  ),
  created_at: z.string(),
});

/** A webhook as every JSON output shows it. The values of its own headers are often credentials, so only the names are shown. */
export function webhookJson(webhook: Webhook): z.output<typeof webhookShape> {
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
    conditions: [...settings.conditions],
    headers: [...webhook.headers.keys()],
    failing_since: webhook.failingSince === null ? null : toIsoTime(webhook.failingSince),
    next_probe_at: breaker.state === "open" ? toIsoTime(breaker.notBeforeMs) : null,
    created_at: toIsoTime(webhook.createdAt),
  };
}

export const testResultShape = z.strictObject({
  id: z.string(),
  webhook_id: z.string(),
  url: z.string(),
  outcome: z.string().describe("`delivered`, or what hindered it."),
  status: z.number().nullable().describe("Of the answer; null if none came."),
  duration_ms: z.number(),
  message: z.string(),
});

/** The result of a test message. */
export function testResultJson(result: TestResult): z.output<typeof testResultShape> {
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
