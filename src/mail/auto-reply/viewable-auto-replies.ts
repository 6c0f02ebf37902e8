import type { Steps } from "../../database/steps.ts";
import type { Endpoint } from "../../endpoints/endpoint.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { REPLY_KIND } from "../../outbox/queue/recipient.ts";
import type { Viewing } from "../../operations/actor.ts";
import { listOwned, reachRecipient } from "../../recipients/reach-recipient.ts";
import type { RecipientType } from "../../recipients/recipient-type.ts";
import type { AutoReply } from "./auto-reply.ts";
import { findAutoReply } from "./auto-reply-store.ts";

/** An automatic reply with the endpoint that it belongs to. */
export interface OwnedAutoReply {
  readonly reply: AutoReply;
  readonly endpoint: Endpoint;
}

/** The automatic replies among recipients. */
const REPLIES: RecipientType<AutoReply> = {
  kind: REPLY_KIND,
  complete: ({ id }) => findAutoReply(id),
  none: (id) => new FormsvcError("not_found", `there is no automatic reply ${id}`),
  describe: () => "",
};

/** @throws not_found, in the same words, when there is none with this id and when somebody else owns it. */
export function* getViewableAutoReply(viewing: Viewing, id: string): Steps<OwnedAutoReply> {
  const asking = { viewing, access: "recipients:read" } as const;
  const { member: reply, endpoint } = yield* reachRecipient(asking, REPLIES, id);
  return { reply, endpoint };
}

/** Up to `limit`, on or off, oldest first. @param after the id of the last one of the page before; null is the first page. */
export function* listViewableAutoReplies(
  viewing: Viewing,
  after: string | null,
  limit: number,
): Steps<OwnedAutoReply[]> {
  const owned = yield* listOwned(viewing, REPLIES, after, limit);
  return owned.map(({ member: reply, endpoint }) => ({ reply, endpoint }));
}
