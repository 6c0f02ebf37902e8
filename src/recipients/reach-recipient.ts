import { z } from "zod";
import type { Steps } from "../database/steps.ts";
import type { Endpoint } from "../endpoints/endpoint.ts";
import { findReachableEndpoint, viewableEndpointIds } from "../endpoints/endpoint-store.ts";
import type { Viewing } from "../operations/actor.ts";
import { listSomeRecipients } from "../outbox/queue/recipient-store.ts";
import type { Asking } from "../workspaces/reach.ts";
import { type AnyRecipient, findRecipientOf, type RecipientType } from "./recipient-type.ts";

/** A recipient, and the endpoint whose submissions it gets. */
export interface Owned<Of> {
  readonly recipient: Of;
  readonly endpoint: Endpoint;
}

/**
 * Finds the recipient that an operation or a page is about. One of another kind, of somebody else, or of an endpoint that the token is not
 * bound to, is treated as if it did not exist: the error has the same words.
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

/** Like {@link reachRecipient}, for an account that only looks. @throws not_found, forbidden */
export function viewRecipient<Of extends AnyRecipient>(
  viewing: Viewing,
  type: RecipientType<Of>,
  id: string,
): Steps<Owned<Of>> {
  return reachRecipient({ viewing, access: "recipients:read" }, type, id);
}

/** The input members that select the endpoints for a list. */
export const endpointChoice = {
  endpoint: z
    .string()
    .nullable()
    .default(null)
    .describe("Only those of this endpoint; null is all endpoints that the caller may see."),
  workspace: z.string().nullable().default(null).describe("Only those of this workspace: its id or name."),
};

export type EndpointChoice = z.output<z.ZodObject<typeof endpointChoice>>;

/** Up to `limit` visible recipients, oldest first. @param after the id of the last one on the page before; null gives the first page. */
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
