import type { Steps } from "../../database/steps.ts";
import type { Endpoint } from "../../endpoints/endpoint.ts";
import { findEndpoint, viewableEndpointIds } from "../../endpoints/endpoint-store.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { REPLY_KIND } from "../../outbox/queue/recipient.ts";
import { listSomeRecipients } from "../../outbox/queue/recipient-store.ts";
import type { Viewing } from "../../operations/actor.ts";
import { mayView } from "../../workspaces/workspace-store.ts";
import type { AutoReply } from "./auto-reply.ts";
import { findAutoReply } from "./auto-reply-store.ts";

/** An automatic reply with the endpoint that it belongs to. */
export interface OwnedAutoReply {
  readonly reply: AutoReply;
  readonly endpoint: Endpoint;
}

/** @throws not_found, in the same words, when there is none with this id and when somebody else owns it. */
export function* getViewableAutoReply(viewing: Viewing, id: string): Steps<OwnedAutoReply> {
  const reply = yield* findAutoReply(id);
  const endpoint = reply && (yield* findEndpoint(reply.endpointId));
  if (reply === undefined || endpoint === undefined || !(yield* mayView(viewing, endpoint.workspaceId)))
    throw new FormsvcError("not_found", `there is no automatic reply ${id}`);
  return { reply, endpoint };
}

/** Up to `limit`, on or off, oldest first. @param after the id of the last one of the page before; null is the first page. */
export function* listViewableAutoReplies(
  viewing: Viewing,
  after: string | null,
  limit: number,
): Steps<OwnedAutoReply[]> {
  const filter = {
    kind: REPLY_KIND,
    endpointIds: yield* viewableEndpointIds(viewing),
    idleOrFailing: false,
  };
  const owned: OwnedAutoReply[] = [];
  for (const { id, endpointId } of yield* listSomeRecipients(filter, after, limit)) {
    const reply = yield* findAutoReply(id);
    const endpoint = yield* findEndpoint(endpointId);
    if (reply !== undefined && endpoint !== undefined) owned.push({ reply, endpoint });
  }
  return owned;
}
