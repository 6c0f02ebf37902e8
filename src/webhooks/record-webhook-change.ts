import { type Actor, recordChange } from "../audit/audit-store.ts";
import type { Steps } from "../database/steps.ts";
import { findEndpoint } from "../endpoints/endpoint-store.ts";
import type { Webhook } from "./webhook.ts";

/** What can be done to a webhook. */
type WebhookVerb = "create" | "set" | "enable" | "disable" | "rotate-secret" | "delete" | "replay";

/**
 * Records what was done to a webhook. It names the host alone, because an address often holds a secret.
 *
 * @param actor null for the command line.
 */
export function* recordWebhookChange(
  actor: Actor | null,
  verb: WebhookVerb,
  { id, endpointId, settings }: Webhook,
  now: number,
): Steps<void> {
  const endpoint = yield* findEndpoint(endpointId);
  const detail = new URL(settings.url).host;
  const change = { subject: id, workspaceId: endpoint?.workspaceId ?? null, detail };
  yield* recordChange(actor, { action: `webhook.${verb}`, ...change }, now);
}
