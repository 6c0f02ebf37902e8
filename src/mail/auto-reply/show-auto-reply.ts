import type { Steps } from "../../database/steps.ts";
import { findMailRecipient } from "../mail-recipient-store.ts";
import type { AutoReply } from "./auto-reply.ts";
import type { ShownAutoReply } from "./auto-reply-json.ts";
import { findAutoReplyOf } from "./auto-reply-store.ts";

/** That of an endpoint, as commands and pages show it. */
export function* showAutoReply(endpointId: string): Steps<ShownAutoReply> {
  return yield* withReplyTo(endpointId, yield* findAutoReplyOf(endpointId));
}

export function* withReplyTo(endpointId: string, reply: AutoReply | undefined): Steps<ShownAutoReply> {
  const id = reply?.settings.replyToId ?? null;
  const recipient = id === null ? undefined : yield* findMailRecipient(id);
  return { endpointId, reply, replyTo: recipient?.settings.address ?? null };
}
