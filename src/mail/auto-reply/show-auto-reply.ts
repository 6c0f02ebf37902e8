import type { Steps } from "../../database/steps.ts";
import type { Endpoint } from "../../endpoints/endpoint.ts";
import { findRecipientOf } from "../../recipients/recipient-type.ts";
import { MAIL_RECIPIENTS } from "../recipients/mail-recipient-store.ts";
import type { AutoReply } from "./auto-reply.ts";
import type { ShownAutoReply } from "./auto-reply-json.ts";
import { findAutoReplyOf } from "./auto-reply-store.ts";
import { findFullLimit, type FullLimit, limitsOfWorkspace, type ReplyLimits } from "./reply-limits.ts";

/** The automatic reply of an endpoint, as commands and pages show it. */
export function* showAutoReply(
  { id: endpointId, workspaceId }: Endpoint,
  chosen: ReplyLimits,
  now: number,
): Steps<ShownAutoReply> {
  const reply = yield* findAutoReplyOf(endpointId);
  const limits = yield* limitsOfWorkspace(workspaceId, chosen);
  return {
    endpointId,
    reply,
    replyTo: yield* replyToOf(reply),
    limits,
    fullLimit: yield* fullLimitOf(reply, workspaceId, limits, now),
  };
}

function* replyToOf(reply: AutoReply | undefined): Steps<string | null> {
  const id = reply?.settings.replyToId ?? null;
  const recipient = id === null ? undefined : yield* findRecipientOf(MAIL_RECIPIENTS, id);
  return recipient?.settings.address ?? null;
}

/** The limit that keeps the next reply back; null if none does, or while the reply is off. */
function* fullLimitOf(
  reply: AutoReply | undefined,
  workspaceId: string,
  limits: ReplyLimits,
  now: number,
): Steps<FullLimit | null> {
  if (reply === undefined || reply.onSince === null) return null;
  return yield* findFullLimit({ recipientId: reply.id, workspaceId }, limits, now);
}
