import { z } from "zod";
import type { Steps } from "../database/steps.ts";
import type { Endpoint } from "../endpoints/endpoint.ts";
import { findReachableEndpoint, viewableEndpointIds } from "../endpoints/endpoint-store.ts";
import type { Viewing } from "../operations/actor.ts";
import { listSomeRecipients } from "../outbox/queue/recipient-store.ts";
import type { Asking } from "../workspaces/reach.ts";
import { type AnyRecipient, findRecipientOf, type RecipientType } from "./recipient-type.ts";

/** A recipient with the endpoint whose submissions it gets. */
export interface Owned<Of> {
  readonly recipient: Of;
  readonly endpoint: Endpoint;
}

/**
 * The recipient that an operation or a page is about. What is not of this kind, belongs to somebody else, or to an endpoint that a token
 * is not bound to, is not found, in the same words.
 *
 * @throws not_found, forbidden
 */
export function* reachRecipient<Of extends AnyRecipient>(
  asking: Asking,
  type: RecipientType<Of>,
  id: string,
): Steps<Owned<Of>> {
  const recipient = yield* findRecipientOf(type, id);
  const endpoint = recipient && (yield* findReachableEndpoint(asking, recipient.endpointId));
  if (recipient === undefined || endpoint === undefined) throw type.none(id);
  return { recipient, endpoint };
}

/** The same for somebody who only looks. @throws not_found, forbidden */
export function viewRecipient<Of extends AnyRecipient>(
  viewing: Viewing,
  type: RecipientType<Of>,
  id: string,
): Steps<Owned<Of>> {
  return reachRecipient({ viewing, access: "recipients:read" }, type, id);
}

/** How an operation names the endpoints of which it lists something. */
export const endpointChoice = {
  endpoint: z
    .string()
    .nullable()
    .default(null)
    .describe("Only this endpoint's; null is every one there is to see."),
  workspace: z.string().nullable().default(null).describe("Only this workspace's, by id or name."),
};

export type EndpointChoice = z.output<z.ZodObject<typeof endpointChoice>>;

/** Up to `limit` that are visible, oldest first. @param after the id of the last one of the page before; null is the first page. */
export function* listOwned<Of extends AnyRecipient>(
  viewing: Viewing,
  { kind, complete }: RecipientType<Of>,
  after: string | null,
  limit: number,
): Steps<Owned<Of>[]> {
  const asking: Asking = { viewing, access: "recipients:read" };
  const endpointIds = yield* viewableEndpointIds(viewing, "recipients:read");
  const filter = { kind, endpointIds, idleOrFailing: false };
  const owned: Owned<Of>[] = [];
  for (const recipient of yield* complete(yield* listSomeRecipients(filter, after, limit))) {
    const endpoint = yield* findReachableEndpoint(asking, recipient.endpointId);
    if (endpoint !== undefined) owned.push({ recipient, endpoint });
  }
  return owned;
}
