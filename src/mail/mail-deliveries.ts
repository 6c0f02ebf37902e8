import { type Actor, recordChange } from "../audit/audit-store.ts";
import type { Channel } from "../outbox/channel-deliveries.ts";
import { recordRecipientChange } from "./change-mail-recipient.ts";
import { MAIL_KIND } from "./mail-recipient.ts";
import { getMailRecipient } from "./mail-recipient-store.ts";

/** The deliveries by e-mail. */
export const mailChannel: Channel<Actor> = {
  kind: MAIL_KIND,
  requireRecipient: getMailRecipient,
  *recordReplay(actor, recipientId, now) {
    if (recipientId !== null)
      return yield* recordRecipientChange(actor, "replay", yield* getMailRecipient(recipientId), now);
    const change = { subject: "every recipient", workspaceId: null, detail: null };
    return yield* recordChange(actor, { action: "recipient.replay", ...change }, now);
  },
};
