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
  url: z
    .string()
    .describe(
      "The address to which messages are sent. The address of a chat is a secret, and is shown shortened.",
    ),
  enabled: z.boolean(),
  state: z
    .enum(["enabled", "disabled", "stopped"])
    .describe("`stopped` means that the receiver answered that it is gone."),
  allow_private: z.boolean().describe("Whether the webhook may reach addresses of private networks."),
  max_spam_score: z.number().describe("Submissions with a higher spam score are not sent."),
  conditions: conditionsShape,
  headers: z
    .array(z.string())
    .describe("The names of the further headers that are sent; their values are never shown."),
  failing_since: volatile(z.string().nullable()),
  next_probe_at: volatile(
    z
      .string()
      .nullable()
      .describe(
        "When the next probe is sent to a receiver that keeps failing; null if the webhook is not probed.",
      ),
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
  outcome: z.string().describe("`delivered`, or the kind of failure."),
  status: z.number().nullable().describe("The HTTP status of the answer; null if none came."),
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
