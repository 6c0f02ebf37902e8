import type { Steps } from "../../database/steps.ts";
import type { Delivery } from "./delivery.ts";
import {
  type DeliveryFilter,
  type DeliveryPage,
  getDelivery,
  listDeliveries,
  noDelivery,
} from "./delivery-store.ts";
import type { Recipient } from "./recipient.ts";
import { findRecipient } from "./recipient-store.ts";

/** The kinds of recipient whose deliveries a command or page shows together. */
export interface ShownKinds {
  /** The kind, as in `recipient.kind`. */
  readonly kind: string;
  /** Other kinds whose deliveries are shown among these, and are never sent again. */
  readonly alsoShows: readonly string[];
}

/** Deliveries, newest first. @throws not_found if the named submission does not exist; invalid_request if no page returned this cursor. */
export function listShownDeliveries(
  { kind, alsoShows }: ShownKinds,
  filter: Omit<DeliveryFilter, "kinds">,
): Steps<DeliveryPage> {
  return listDeliveries({ ...filter, kinds: [kind, ...alsoShows] });
}

/** A recipient whose deliveries are shown here; undefined if there is none with this id. */
export function* findShown(
  { kind, alsoShows }: ShownKinds,
  recipientId: string,
): Steps<Recipient | undefined> {
  for (const each of [kind, ...alsoShows]) {
    const recipient = yield* findRecipient(each, recipientId);
    if (recipient !== undefined) return recipient;
  }
  return undefined;
}

/** A message to this recipient. @throws not_found if there is no message with this id, or if it is to another recipient. */
export function* getDeliveryTo(recipientId: string, id: string): Steps<Delivery> {
  const delivery = yield* getDelivery(id);
  if (delivery.recipientId === recipientId) return delivery;
  throw noDelivery(id);
}
