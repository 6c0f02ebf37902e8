import type { Steps } from "../database/steps.ts";
import type { Endpoint } from "../endpoints/endpoint.ts";
import { viewableEndpointIds } from "../endpoints/endpoint-store.ts";
import { listSomeRecipients } from "../outbox/queue/recipient-store.ts";
import type { Viewing } from "../operations/actor.ts";
import { MAIL_KIND, type MailRecipient } from "./mail-recipient.ts";
import { listOwned, reachRecipient } from "../recipients/reach-recipient.ts";
import { RECIPIENTS } from "./mail-recipient-store.ts";

/** A recipient with the endpoint whose submissions it gets. */
export interface OwnedMailRecipient {
  readonly recipient: MailRecipient;
  readonly endpoint: Endpoint;
}

/** @throws not_found, in the same words, when there is none with this id and when somebody else owns it. */
export function* getViewableMailRecipient(viewing: Viewing, id: string): Steps<OwnedMailRecipient> {
  const asking = { viewing, access: "recipients:read" } as const;
  const { member: recipient, endpoint } = yield* reachRecipient(asking, RECIPIENTS, id);
  return { recipient, endpoint };
}

/** Up to `limit`, oldest first. @param after the id of the last one of the page before; null is the first page. */
export function* listViewableMailRecipients(
  viewing: Viewing,
  after: string | null,
  limit: number,
): Steps<OwnedMailRecipient[]> {
  const owned = yield* listOwned(viewing, RECIPIENTS, after, limit);
  return owned.map(({ member: recipient, endpoint }) => ({ recipient, endpoint }));
}

/** The largest number of recipients that are looked at, oldest first. */
const MAX_LOOKED_AT = 1000;

/** Up to `limit` of those that refused several e-mails, oldest first, and how many more there are. */
export function* findStoppedMailRecipients(
  viewing: Viewing,
  limit: number,
): Steps<{ readonly stopped: readonly MailRecipient[]; readonly more: number }> {
  const endpointIds = yield* viewableEndpointIds(viewing, "recipients:read");
  const filter = { kind: MAIL_KIND, endpointIds, idleOrFailing: true };
  const idle = yield* listSomeRecipients(filter, null, MAX_LOOKED_AT);
  const found = idle.filter(({ state }) => state === "stopped");
  const stopped: MailRecipient[] = [];
  for (const one of found.slice(0, limit)) {
    const recipient = yield* RECIPIENTS.complete(one);
    if (recipient !== undefined) stopped.push(recipient);
  }
  return { stopped, more: found.length - stopped.length };
}
