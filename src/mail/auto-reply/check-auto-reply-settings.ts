import type { Steps } from "../../database/steps.ts";
import type { Endpoint } from "../../endpoints/endpoint.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { plainText } from "../../foundation/plain-text.ts";
import { listMailFields } from "../compose/mail-fields.ts";
import type { MailRecipient } from "../recipients/mail-recipient.ts";
import { stateOf } from "../recipients/mail-recipient-state.ts";
import { listMailRecipients } from "../recipients/mail-recipient-store.ts";
import type { AutoReplySettings } from "./auto-reply.ts";
import { checkReplyWords } from "./check-auto-reply.ts";

/** The settings to change. An absent one stays as it is. */
export interface ReplyChange {
  readonly field?: string;
  readonly subject?: string | null;
  readonly text?: string | null;
  /** The address of a recipient of the endpoint. */
  readonly replyTo?: string | null;
}

/**
 * The settings after a change.
 *
 * @throws usage if a setting is out of its bounds, or if no field or several fields could hold the address; not_found if no recipient of
 * the endpoint has the address for answers; conflict if that recipient gets no e-mail.
 */
export function* settingsFrom(
  endpoint: Endpoint,
  before: AutoReplySettings | undefined,
  { field, replyTo, ...words }: ReplyChange,
): Steps<AutoReplySettings> {
  const { subject = before?.subject ?? null, text = before?.text ?? null } = checkReplyWords(words);
  const replyToId =
    replyTo === undefined ? (before?.replyToId ?? null) : yield* recipientOf(endpoint, replyTo);
  const names = yield* listMailFields(endpoint);
  return { field: chooseReplyField(endpoint, names, field ?? before?.field), subject, text, replyToId };
}

/**
 * The field that holds the address.
 *
 * @param names of the fields of format email. @param wanted a field's name; undefined chooses the only one that there is. @throws usage
 */
export function chooseReplyField(
  endpoint: Pick<Endpoint, "name">,
  names: readonly string[],
  wanted: string | undefined,
): string {
  const listed = names.map((name) => JSON.stringify(name)).join(", ");
  if (names.length === 0)
    throw new FormsvcError(
      "usage",
      `${plainText(endpoint.name)} has no field of format email, so nobody can be replied to; give its field for the address that format in the schema`,
    );
  if (wanted !== undefined) {
    if (names.includes(wanted)) return wanted;
    const why = `${JSON.stringify(wanted)} is not a field of format email`;
    throw new FormsvcError("usage", `${why}; ${plainText(endpoint.name)} has: ${listed}`);
  }
  const [only = "", ...others] = names;
  if (others.length === 0) return only;
  throw new FormsvcError(
    "usage",
    `several fields could have the address of the reply: ${listed}; choose one of them as the field`,
  );
}

/**
 * The recipient with this address. A stranger must not get the answers, so only a recipient that agreed to e-mail about this endpoint may.
 */
function* recipientOf(endpoint: Endpoint, address: string | null): Steps<string | null> {
  if (address === null) return null;
  const others = yield* listMailRecipients(endpoint.id);
  const found = others.find(({ settings }) => settings.address.toLowerCase() === address.toLowerCase());
  if (found === undefined)
    throw new FormsvcError(
      "not_found",
      `${plainText(address)} is no recipient of ${plainText(endpoint.name)}; only its recipients of e-mail can get the answers`,
      { hint: { kind: "list_recipients" } },
    );
  if (getsAnswers(found)) return found.id;
  throw new FormsvcError("conflict", `${found.settings.address} is ${stateOf(found)}, so it gets no answers`);
}

/** Whether the recipient's holder agreed to e-mail, and e-mail arrives. A disabled recipient gets answers too. */
export function getsAnswers(recipient: MailRecipient): boolean {
  return ["enabled", "disabled"].includes(stateOf(recipient));
}
