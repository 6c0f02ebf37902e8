import type { Steps } from "../database/steps.ts";
import type { Endpoint } from "../endpoints/endpoint.ts";
import { findEndpoint, viewableEndpointIds } from "../endpoints/endpoint-store.ts";
import { countFailedOf } from "../outbox/queue/count-deliveries.ts";
import { listSomeRecipients } from "../outbox/queue/recipient-store.ts";
import { mayView } from "../workspaces/workspace-store.ts";
import type { Viewing } from "../operations/actor.ts";
import { isIll } from "./webhook-health.ts";
import { findWebhook, noWebhook, withAddress } from "./webhook-store.ts";
import { type Webhook, WEBHOOK_KIND } from "./webhook.ts";

/** A webhook with the endpoint whose submissions it gets. */
export interface OwnedWebhook {
  readonly webhook: Webhook;
  readonly endpoint: Endpoint;
}

/** @throws not_found, in the same words, when there is none with this id and when somebody else owns it. */
export function* getViewableWebhook(viewing: Viewing, id: string): Steps<OwnedWebhook> {
  const webhook = yield* findWebhook(id);
  const endpoint = webhook && (yield* findEndpoint(webhook.endpointId));
  if (webhook === undefined || endpoint === undefined || !(yield* mayView(viewing, endpoint.workspaceId)))
    throw noWebhook(id);
  return { webhook, endpoint };
}

/** Up to `limit`, oldest first. @param after the id of the last one of the page before; null is the first page. */
export function* listViewableWebhooks(
  viewing: Viewing,
  after: string | null,
  limit: number,
): Steps<OwnedWebhook[]> {
  const endpointIds = yield* viewableEndpointIds(viewing);
  const filter = { kind: WEBHOOK_KIND, endpointIds, idleOrFailing: false };
  const owned: OwnedWebhook[] = [];
  for (const recipient of yield* listSomeRecipients(filter, after, limit)) {
    const webhook = yield* withAddress(recipient);
    const endpoint = yield* findEndpoint(recipient.endpointId);
    if (webhook !== undefined && endpoint !== undefined) owned.push({ webhook, endpoint });
  }
  return owned;
}

/** What somebody should look at. */
export interface WebhookTroubles {
  /** Webhooks that are stopped or keep failing; the first few. */
  readonly ill: readonly Webhook[];
  /** How many there are besides. */
  readonly more: number;
  /** Messages that ran out of attempts. */
  readonly failed: number;
}

/** The largest number of webhooks that are named. */
const MAX_NAMED = 3;
/** The largest number of webhooks that are looked at, oldest first. */
const MAX_LOOKED_AT = 1000;

export function* findWebhookTroubles(viewing: Viewing, now: number): Steps<WebhookTroubles> {
  const endpointIds = yield* viewableEndpointIds(viewing);
  const filter = { kind: WEBHOOK_KIND, endpointIds, idleOrFailing: true };
  const found = (yield* listSomeRecipients(filter, null, MAX_LOOKED_AT)).filter((one) => isIll(one, now));
  const ill: Webhook[] = [];
  for (const recipient of found.slice(0, MAX_NAMED)) {
    const webhook = yield* withAddress(recipient);
    if (webhook !== undefined) ill.push(webhook);
  }
  return { ill, more: found.length - ill.length, failed: yield* countFailedOf(endpointIds) };
}
