import { z } from "zod";
import type { Steps } from "../database/steps.ts";
import type { Endpoint } from "../endpoints/endpoint.ts";
import {
  findReachableEndpoint,
  listEndpoints,
  reachEndpoint,
  viewableEndpointIds,
} from "../endpoints/endpoint-store.ts";
import type { Viewing } from "../operations/actor.ts";
import { findRecipient, listRecipients, listSomeRecipients } from "../outbox/queue/recipient-store.ts";
import type { Asking } from "../workspaces/reach.ts";
import { getWorkspace } from "../workspaces/workspace-store.ts";
import type { Member, RecipientType } from "./recipient-type.ts";

/** A recipient with the endpoint whose submissions it gets. */
export interface Owned<Of> {
  readonly member: Of;
  readonly endpoint: Endpoint;
}

/**
 * The recipient that an operation or a page is about. What is not of this kind, belongs to somebody else, or to an endpoint that a token
 * is not bound to, is not found, in the same words.
 *
 * @throws not_found, forbidden
 */
export function* reachRecipient<Of extends Member>(
  asking: Asking,
  type: RecipientType<Of>,
  id: string,
): Steps<Owned<Of>> {
  const recipient = yield* findRecipient(type.kind, id);
  const member = recipient && (yield* type.complete(recipient));
  const endpoint = member && (yield* findReachableEndpoint(asking, member.endpointId));
  if (member === undefined || endpoint === undefined) throw type.none(id);
  return { member, endpoint };
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

/** The chosen endpoints, as far as they are visible; null is every one there is. @throws not_found, ambiguous, forbidden */
export function* chooseEndpointIds(
  asking: Asking,
  { endpoint, workspace }: EndpointChoice,
): Steps<readonly string[] | null> {
  const { viewing } = asking;
  if (endpoint !== null) return [(yield* reachEndpoint(asking, { endpoint, workspace })).id];
  if (workspace === null) return yield* viewableEndpointIds(viewing);
  const { id } = yield* getWorkspace(workspace, viewing);
  return (yield* listEndpoints(id, viewing)).map((each) => each.id);
}

/** All of these endpoints, oldest first. @param endpointIds null is every endpoint */
export function* listMembers<Of extends Member>(
  { kind, complete }: RecipientType<Of>,
  endpointIds: readonly string[] | null,
): Steps<Of[]> {
  const members: Of[] = [];
  for (const recipient of yield* listRecipients(kind, endpointIds)) {
    const member = yield* complete(recipient);
    if (member !== undefined) members.push(member);
  }
  return members;
}

/** Up to `limit` that are visible, oldest first. @param after the id of the last one of the page before; null is the first page. */
export function* listOwned<Of extends Member>(
  viewing: Viewing,
  { kind, complete }: RecipientType<Of>,
  after: string | null,
  limit: number,
): Steps<Owned<Of>[]> {
  const asking: Asking = { viewing, access: "recipients:read" };
  const filter = { kind, endpointIds: yield* viewableEndpointIds(viewing), idleOrFailing: false };
  const owned: Owned<Of>[] = [];
  for (const recipient of yield* listSomeRecipients(filter, after, limit)) {
    const member = yield* complete(recipient);
    const endpoint = yield* findReachableEndpoint(asking, recipient.endpointId);
    if (member !== undefined && endpoint !== undefined) owned.push({ member, endpoint });
  }
  return owned;
}
