import type { Steps } from "../database/steps.ts";
import { viewableEndpointIds } from "../endpoints/endpoint-store.ts";
import type { Viewing } from "../operations/actor.ts";
import type { Recipient } from "../outbox/queue/recipient.ts";
import { listSomeRecipients } from "../outbox/queue/recipient-store.ts";
import type { AnyRecipient, RecipientType } from "./recipient-type.ts";

/** The largest number of recipients that are looked at, the oldest first. */
const MAX_LOOKED_AT = 1000;

/**
 * Finds visible recipients that are stopped, disabled or failing and that `isMeant` accepts, oldest first: up to `limit` of them, and the
 * number of further ones.
 */
export function* findIdle<Of extends AnyRecipient>(
  viewing: Viewing,
  { kind, complete }: RecipientType<Of>,
  limit: number,
  isMeant: (recipient: Recipient) => boolean,
): Steps<{ readonly first: readonly Of[]; readonly more: number }> {
  const endpointIds = yield* viewableEndpointIds(viewing, "recipients:read");
  const filter = { kind, endpointIds, idleOrFailing: true };
  const found = (yield* listSomeRecipients(filter, null, MAX_LOOKED_AT)).filter(isMeant);
  const first = yield* complete(found.slice(0, limit));
  return { first, more: found.length - first.length };
}
