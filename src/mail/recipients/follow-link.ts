import { z } from "zod";
import type { Steps } from "../../database/steps.ts";
import { findEndpoint } from "../../endpoints/endpoint-store.ts";
import type { Endpoint } from "../../endpoints/endpoint.ts";
import { changed, operation } from "../../operations/operation.ts";
import { changeOf } from "../../recipients/change-recipient.ts";
import { confirmMailRecipient, readSubscribed, unsubscribe } from "./agree-to-mail.ts";
import type { MailRecipient } from "./mail-recipient.ts";
import { MAIL_RECIPIENTS } from "./mail-recipient-store.ts";

/*
 * The operations of a visitor who follows the link of a letter. The link's token is the only right that is needed: its holder needs no
 * account, and no account may do this without it.
 */

const input = z.strictObject({
  recipient: z.string(),
  token: z.string().describe("The token in the link of the letter."),
});
const output = z.strictObject({ address: z.string(), endpoint_name: z.string(), unsubscribed: z.boolean() });

export const confirmRecipient = operation({
  name: "recipient.confirm",
  summary: "Agree to e-mail, by the link of the letter that asks",
  kind: "write",
  access: "letters:follow",
  input,
  output,
  *run({ now }, { recipient: id, token }) {
    const recipient = yield* confirmMailRecipient(id, token, now);
    const endpoint = yield* endpointOf(recipient);
    return changed(linked(recipient, endpoint), changeOf(MAIL_RECIPIENTS, recipient, endpoint));
  },
});

/** A second call changes nothing. */
export const unsubscribeRecipient = operation({
  name: "recipient.unsubscribe",
  summary: "End e-mail, by the link that each e-mail has",
  kind: "write",
  access: "letters:follow",
  input,
  output,
  *run({ now }, { recipient: id, token }) {
    const before = yield* readSubscribed(id, token);
    const endpoint = yield* endpointOf(before);
    if (before.unsubscribedAt !== null) return changed(linked(before, endpoint));
    const recipient = yield* unsubscribe(before, now);
    return changed(linked(recipient, endpoint), changeOf(MAIL_RECIPIENTS, recipient, endpoint));
  },
});

function* endpointOf({ id, endpointId }: MailRecipient): Steps<Endpoint> {
  const endpoint = yield* findEndpoint(endpointId);
  if (endpoint === undefined) throw MAIL_RECIPIENTS.none(id);
  return endpoint;
}

function linked({ settings, unsubscribedAt }: MailRecipient, { name }: Endpoint): z.output<typeof output> {
  return { address: settings.address, endpoint_name: name, unsubscribed: unsubscribedAt !== null };
}
