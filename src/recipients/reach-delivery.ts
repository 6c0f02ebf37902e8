import type { Steps } from "../database/steps.ts";
import type { Endpoint } from "../endpoints/endpoint.ts";
import { findReachableEndpoint } from "../endpoints/endpoint-store.ts";
import { reachEndpointIds } from "../endpoints/viewable-endpoints.ts";
import type { FormsvcError } from "../foundation/errors.ts";
import { type ShownKinds, findShown, noDelivery } from "../outbox/queue/shown-deliveries.ts";
import type { Delivery } from "../outbox/queue/delivery.ts";
import { getDelivery } from "../outbox/queue/delivery-store.ts";
import type { Recipient } from "../outbox/queue/recipient.ts";
import type { Asking } from "../workspaces/reach.ts";
import type { EndpointChoice } from "./reach-recipient.ts";

/** A recipient with the endpoint that messages are sent to it of. */
export interface ReachedRecipient {
  readonly recipient: Recipient;
  readonly endpoint: Endpoint;
}

/**
 * A recipient whose deliveries are asked for. What somebody may not see is like none.
 *
 * @param none what is thrown if there is none. @throws forbidden
 */
export function* reachShown(
  asking: Asking,
  kinds: ShownKinds,
  recipientId: string,
  none: (id: string) => FormsvcError,
): Steps<ReachedRecipient> {
  const recipient = yield* findShown(kinds, recipientId);
  const endpoint = recipient && (yield* findReachableEndpoint(asking, recipient.endpointId));
  if (recipient === undefined || endpoint === undefined) throw none(recipientId);
  return { recipient, endpoint };
}

/** A delivery of these kinds with its recipient. @throws not_found, in the same words, for one that somebody may not see; forbidden */
export function* reachDelivery(
  asking: Asking,
  kinds: ShownKinds,
  id: string,
): Steps<ReachedRecipient & { readonly delivery: Delivery }> {
  const delivery = yield* getDelivery(id);
  const reached = yield* reachShown(asking, kinds, delivery.recipientId, () => noDelivery(id));
  return { delivery, ...reached };
}

/** Whose deliveries are meant. */
export interface RecipientChoice extends EndpointChoice {
  /** Null is every recipient of these endpoints. */
  readonly recipientId: string | null;
}

interface ChosenRecipients {
  readonly recipientId: string | null;
  /** Null is every endpoint. */
  readonly endpointIds: readonly string[] | null;
  /** The one that was named; null if none was. */
  readonly reached: ReachedRecipient | null;
}

/** The filter of a choice, as far as it is visible. @throws not_found, ambiguous, forbidden */
export function* chooseRecipients(
  asking: Asking,
  kinds: ShownKinds,
  { recipientId, ...endpoints }: RecipientChoice,
  none: (id: string) => FormsvcError,
): Steps<ChosenRecipients> {
  const reached = recipientId === null ? null : yield* reachShown(asking, kinds, recipientId, none);
  return { recipientId, endpointIds: yield* reachEndpointIds(asking, endpoints), reached };
}
