import { type Actor, recordChange } from "../audit/audit-store.ts";
import type { Steps } from "../database/steps.ts";
import { findEndpoint } from "../endpoints/endpoint-store.ts";
import type { Channel } from "../outbox/queue/channel-deliveries.ts";
import { findRecipient } from "../outbox/queue/recipient-store.ts";
import { REPLY_KIND } from "../outbox/queue/recipient.ts";
import { MAIL_KIND } from "./mail-recipient.ts";
import { getMailRecipient, RECIPIENTS } from "./mail-recipient-store.ts";

/** The deliveries by e-mail, automatic replies among them. */
export const mailChannel: Channel<Actor> = {
  kind: MAIL_KIND,
  alsoShows: [REPLY_KIND],
  requireRecipient: requireShown,
  *recordReplay(actor, recipientId, now) {
    const change =
      recipientId === null
        ? { subject: "every recipient", workspaceId: null, detail: null }
        : yield* changeTo(recipientId);
    yield* recordChange(actor, { action: "recipient.replay", ...change }, now);
  },
};

function* changeTo(recipientId: string) {
  const recipient = yield* getMailRecipient(recipientId);
  const endpoint = yield* findEndpoint(recipient.endpointId);
  const workspaceId = endpoint?.workspaceId ?? null;
  return { subject: recipientId, workspaceId, detail: RECIPIENTS.describe(recipient) };
}

function* requireShown(id: string): Steps<unknown> {
  return (yield* findRecipient(REPLY_KIND, id)) ?? (yield* getMailRecipient(id));
}
