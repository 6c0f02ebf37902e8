import { z } from "zod";
import { changed, operation } from "../../operations/operation.ts";
import { countAction } from "../../outbox/queue/account-limits.ts";
import { tryDestinationNow } from "../../outbox/sending/destinations.ts";
import { limitedAccountOf } from "../../recipients/limited-account.ts";
import { mailServerName } from "./mail-health.ts";
import { MAIL_KIND } from "../recipients/mail-recipient.ts";

/** Asks to try the mail server now. It counts as a test of the account. */
export const tryMailServer = operation({
  name: "mail.try",
  summary: "Have the servers try a mail server that fails with one e-mail now",
  kind: "write",
  access: "operator",
  input: z.strictObject({}),
  output: z.strictObject({ tried: z.boolean().describe("False if no mail server is configured.") }),
  *run({ actor, config, now }) {
    const { host, port } = config.mail;
    if (host === null) return changed({ tried: false });
    const account = limitedAccountOf(actor);
    if (account !== null) yield* countAction(account, "test", 1, now);
    yield* tryDestinationNow({ kind: MAIL_KIND, place: mailServerName({ host, port }) });
    return changed({ tried: true });
  },
});
