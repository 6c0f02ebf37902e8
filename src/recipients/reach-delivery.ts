import type { Steps } from "../database/steps.ts";
import type { Endpoint } from "../endpoints/endpoint.ts";
import { findReachableEndpoint } from "../endpoints/endpoint-store.ts";
import { reachEndpointIds } from "../endpoints/viewable-endpoints.ts";
import type { FormsvcError } from "../foundation/errors.ts";
import { type ShownKinds, findShown } from "../outbox/queue/shown-deliveries.ts";
import type { Delivery } from "../outbox/queue/delivery.ts";
import { getDelivery, noDelivery } from "../outbox/queue/delivery-store.ts";
import type { Recipient } from "../outbox/queue/recipient.ts";
import type { Asking } from "../workspaces/reach.ts";
import type { EndpointChoice } from "./reach-recipient.ts";

/** A recipient, and the endpoint about which it gets messages. */
export interface ReachedRecipient {
  readonly recipient: Recipient;
  readonly endpoint: Endpoint;
}

/**
 * Finds the recipient whose deliveries are asked for. One that the actor may not see is treated as if it did not exist.
 *
 * @param none makes the error that is thrown if there is none.
 * @throws forbidden
 */
function* reachShown(
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

/** A delivery of these kinds, with its recipient. @throws not_found, in the same words, if the actor may not see it; forbidden */
export function* reachDelivery(
  asking: Asking,
  kinds: ShownKinds,
  id: string,
): Steps<ReachedRecipient & { readonly delivery: Delivery }> {
  const delivery = yield* getDelivery(id);
  const reached = yield* reachShown(asking, kinds, delivery.recipientId, () => noDelivery(id));
  return { delivery, ...reached };
}

/** Selects the recipients whose deliveries are meant. */
export interface RecipientChoice extends EndpointChoice {
  /** Null means every recipient of these endpoints. */
  readonly recipientId: string | null;
}

interface ChosenRecipients {
  readonly recipientId: string | null;
  /** Null means every endpoint. */
  readonly endpointIds: readonly string[] | null;
  /** The recipient that was named; null if none was. */
  readonly reached: ReachedRecipient | null;
}

/** Converts a choice to a filter, limited to what the actor may see. @throws not_found, ambiguous, forbidden */
export function* chooseRecipients(
  asking: Asking,
  kinds: ShownKinds,
  { recipientId, ...endpoints }: RecipientChoice,
  none: (id: string) => FormsvcError,
): Steps<ChosenRecipients> {
  const reached = recipientId === null ? null : yield* reachShown(asking, kinds, recipientId, none);
  return { recipientId, endpointIds: yield* reachEndpointIds(asking, endpoints), reached };
}
