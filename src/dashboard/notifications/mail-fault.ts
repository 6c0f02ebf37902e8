import type { Config } from "../../config/config.ts";
import type { Steps } from "../../database/steps.ts";
import { placeOf } from "../../mail/mail-health.ts";
import { MAIL_KIND } from "../../mail/mail-recipient.ts";
import { findPlaceFault, type PlaceFault } from "../../outbox/sending/places.ts";

/** Since when the mail server keeps all e-mail waiting; null while it is well, and if there is none. */
export function* readMailFault({ mail: { host, port } }: Config): Steps<PlaceFault | null> {
  if (host === null) return null;
  return (yield* findPlaceFault(MAIL_KIND, placeOf({ host, port }))) ?? null;
}
