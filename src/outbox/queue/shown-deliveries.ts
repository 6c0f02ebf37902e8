import type { Steps } from "../../database/steps.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import type { Delivery } from "./delivery.ts";
import { type DeliveryFilter, type DeliveryPage, getDelivery, listDeliveries } from "./delivery-store.ts";
import type { Recipient } from "./recipient.ts";
import { findRecipient } from "./recipient-store.ts";

/** The recipients of one kind, as commands and pages work with their deliveries. */
export interface ShownKinds {
  /** As `recipient.kind` has it. */
  readonly kind: string;
  /** Kinds of which the deliveries are shown among these, and are never sent again. */
  readonly alsoShows: readonly string[];
}

/** Newest first. @throws not_found when the named submission is not there; invalid_request on a cursor that no page returned. */
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

/** A message to this recipient. @throws not_found when there is none with this id, and if it is to another. */
export function* getDeliveryTo(recipientId: string, id: string): Steps<Delivery> {
  const delivery = yield* getDelivery(id);
  if (delivery.recipientId === recipientId) return delivery;
  throw noDelivery(id);
}

export function noDelivery(id: string): FormsvcError {
  return new FormsvcError("not_found", `there is no delivery ${id}`, { hint: { kind: "list_deliveries" } });
}
