import type { Channel } from "../outbox/queue/channel-deliveries.ts";
import { REPLY_KIND } from "../outbox/queue/recipient.ts";
import { MAIL_KIND } from "./mail-recipient.ts";

/** The deliveries by e-mail, automatic replies among them. */
export const mailChannel: Channel = { kind: MAIL_KIND, alsoShows: [REPLY_KIND] };
