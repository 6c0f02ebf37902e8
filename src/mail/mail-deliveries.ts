import { type Actor, recordChange } from "../audit/audit-store.ts";
import type { Steps } from "../database/steps.ts";
import type { Channel } from "../outbox/queue/channel-deliveries.ts";
import { recordRecipientChange } from "./change-mail-recipient.ts";
import { findRecipient } from "../outbox/queue/recipient-store.ts";
import { REPLY_KIND } from "../outbox/queue/recipient.ts";
import { MAIL_KIND } from "./mail-recipient.ts";
import { getMailRecipient } from "./mail-recipient-store.ts";

/** The deliveries by e-mail, automatic replies among them. */
export const mailChannel: Channel<Actor> = {
  kind: MAIL_KIND,
  alsoShows: [REPLY_KIND],
  requireRecipient: requireShown,
  *recordReplay(actor, recipientId, now) {
    if (recipientId !== null)
      return yield* recordRecipientChange(actor, "replay", yield* getMailRecipient(recipientId), now);
    const change = { subject: "every recipient", workspaceId: null, detail: null };
    return yield* recordChange(actor, { action: "recipient.replay", ...change }, now);
  },
};

function* requireShown(id: string): Steps<unknown> {
  return (yield* findRecipient(REPLY_KIND, id)) ?? (yield* getMailRecipient(id));
}
