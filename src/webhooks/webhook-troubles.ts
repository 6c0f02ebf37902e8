import type { Steps } from "../database/steps.ts";
import { viewableEndpointIds } from "../endpoints/endpoint-store.ts";
import type { Viewing } from "../operations/actor.ts";
import { countFailedOf } from "../outbox/queue/count-deliveries.ts";
import { findIdle } from "../recipients/find-idle.ts";
import { isIll } from "./webhook-health.ts";
import { WEBHOOKS } from "./webhook-store.ts";
import type { Webhook } from "./webhook.ts";

/** What a person should look at. */
export interface WebhookTroubles {
  /** The first few webhooks that are stopped or keep failing. */
  readonly ill: readonly Webhook[];
  /** The number of further webhooks that are stopped or keep failing. */
  readonly more: number;
  /** The number of messages that ran out of attempts. */
  readonly failed: number;
}

/** The largest number of webhooks that are named. */
const MAX_NAMED = 3;

export function* findWebhookTroubles(viewing: Viewing, now: number): Steps<WebhookTroubles> {
  const { first: ill, more } = yield* findIdle(viewing, WEBHOOKS, MAX_NAMED, (one) => isIll(one, now));
  const endpointIds = yield* viewableEndpointIds(viewing, "recipients:read");
  return { ill, more, failed: yield* countFailedOf(endpointIds) };
}
