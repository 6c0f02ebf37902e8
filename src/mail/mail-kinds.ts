import type { ShownKinds } from "../outbox/queue/shown-deliveries.ts";
import { REPLY_KIND } from "../outbox/queue/recipient.ts";
import { MAIL_KIND } from "./recipients/mail-recipient.ts";

/** The kinds of recipient whose deliveries are e-mails, automatic replies among them. */
export const mailKinds: ShownKinds = { kind: MAIL_KIND, alsoShows: [REPLY_KIND] };
