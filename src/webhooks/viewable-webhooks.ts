import type { Steps } from "../database/steps.ts";
import type { Endpoint } from "../endpoints/endpoint.ts";
import { viewableEndpointIds } from "../endpoints/endpoint-store.ts";
import type { Viewing } from "../operations/actor.ts";
import { countFailedOf } from "../outbox/queue/count-deliveries.ts";
import { listSomeRecipients } from "../outbox/queue/recipient-store.ts";
import { listOwned, reachRecipient } from "../recipients/reach-recipient.ts";
import { isIll } from "./webhook-health.ts";
import { WEBHOOKS } from "./webhook-store.ts";
import { type Webhook, WEBHOOK_KIND } from "./webhook.ts";

/** A webhook with the endpoint whose submissions it gets. */
export interface OwnedWebhook {
  readonly webhook: Webhook;
  readonly endpoint: Endpoint;
}

/** @throws not_found, in the same words, when there is none with this id and when somebody else owns it. */
export function* getViewableWebhook(viewing: Viewing, id: string): Steps<OwnedWebhook> {
  const asking = { viewing, access: "recipients:read" } as const;
  const { member: webhook, endpoint } = yield* reachRecipient(asking, WEBHOOKS, id);
  return { webhook, endpoint };
}

/** Up to `limit`, oldest first. @param after the id of the last one of the page before; null is the first page. */
export function* listViewableWebhooks(
  viewing: Viewing,
  after: string | null,
  limit: number,
): Steps<OwnedWebhook[]> {
  const owned = yield* listOwned(viewing, WEBHOOKS, after, limit);
  return owned.map(({ member: webhook, endpoint }) => ({ webhook, endpoint }));
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
  const endpointIds = yield* viewableEndpointIds(viewing, "recipients:read");
  const filter = { kind: WEBHOOK_KIND, endpointIds, idleOrFailing: true };
  const found = (yield* listSomeRecipients(filter, null, MAX_LOOKED_AT)).filter((one) => isIll(one, now));
  const ill: Webhook[] = [];
  for (const recipient of found.slice(0, MAX_NAMED)) {
    const webhook = yield* WEBHOOKS.complete(recipient);
    if (webhook !== undefined) ill.push(webhook);
  }
  return { ill, more: found.length - ill.length, failed: yield* countFailedOf(endpointIds) };
}
