import type { Config } from "../../config/config.ts";
import type { Steps } from "../../database/steps.ts";
import { mailServerName } from "../../mail/health/mail-health.ts";
import { MAIL_KIND } from "../../mail/recipients/mail-recipient.ts";
import { findDestinationFault, type DestinationFault } from "../../outbox/sending/destinations.ts";

/** Reads since when the mail server makes all e-mail wait; null if it works, or if there is no mail server. */
export function* readMailFault({ mail: { host, port } }: Config): Steps<DestinationFault | null> {
  if (host === null) return null;
  return (yield* findDestinationFault(MAIL_KIND, mailServerName({ host, port }))) ?? null;
}
