import type { Selectable } from "kysely";
import { isDeepStrictEqual } from "node:util";
import { randomBytes } from "node:crypto";
import { query } from "../../database/database.ts";
import { raiseSettingsVersion } from "../../database/settings-version.ts";
import { first, run, type Steps } from "../../database/steps.ts";
import type { Tables } from "../../database/tables.generated.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { newId } from "../../foundation/id.ts";
import { findLanguage } from "../../languages/language.ts";
import { domainOf } from "../../foundation/mail-address.ts";
import { endGathering } from "../../outbox/queue/end-gathering.ts";
import { MAX_RECIPIENTS_OF_KIND, type Recipient } from "../../outbox/queue/recipient.ts";
import { insertRecipient, setWanted } from "../../outbox/queue/recipient-store.ts";
import {
  getRecipientOf,
  joinRows,
  listRecipientsOf,
  noneOf,
  type RecipientType,
} from "../../recipients/recipient-type.ts";
import { requireAgreed } from "./mail-recipient-state.ts";
import { checkRecipientSettings } from "./check-recipient-settings.ts";
import { MAIL_KIND, type MailRecipient, type MailRecipientSettings } from "./mail-recipient.ts";

const UNSUBSCRIBE_TOKEN_BYTES = 24;

/** Recipients of e-mail as a type of recipient. An address is personal, so the record of changes names only its domain. */
export const MAIL_RECIPIENTS: RecipientType<MailRecipient> = {
  kind: MAIL_KIND,
  complete: (recipients) =>
    joinRows(
      recipients,
      (ids) => query.selectFrom("mail_recipient").selectAll().where("id", "in", ids),
      toMailRecipient,
    ),
  none: noneOf("recipient"),
  describe: ({ settings }) => `an address at ${domainOf(settings.address)}`,
  requireEnabling: requireAgreed,
};

/**
 * Adds a recipient.
 *
 * @param confirmedAt when its holder agreed; null if they must still be asked.
 * @throws usage if a setting is out of its bounds, or if the endpoint has as many recipients as it may; already_exists.
 */
export function* insertMailRecipientRows(
  endpointId: string,
  given: MailRecipientSettings,
  confirmedAt: number | null,
  now: number,
): Steps<MailRecipient> {
  const settings = checkRecipientSettings(given);
  const { address, subject, digest, language, attach, maxSpamScore, conditions } = settings;
  const others = yield* listMailRecipients(endpointId);
  requireNoneEqual(others, settings);
  if (others.length >= MAX_RECIPIENTS_OF_KIND)
    throw new FormsvcError("usage", `an endpoint has at most ${MAX_RECIPIENTS_OF_KIND} recipients`);
  const id = newId("rcpt", now);
  const wanted = { maxSpamScore, conditions };
  yield* insertRecipient({ id, kind: MAIL_KIND, endpointId, ...wanted, confirmedAt }, now);
  const token = randomBytes(UNSUBSCRIBE_TOKEN_BYTES).toString("base64url");
  yield* run(
    query
      .insertInto("mail_recipient")
      .values({ id, address, subject, digest, language, attach: Number(attach), unsubscribe_token: token }),
  );
  return yield* getMailRecipient(id);
}

/**
 * Checks that no recipient has the same address and the same conditions. With different conditions, an address may be there several times.
 * @throws already_exists
 */
function requireNoneEqual(
  others: readonly MailRecipient[],
  { address, conditions }: Pick<MailRecipientSettings, "address" | "conditions">,
): void {
  const same = others.find(
    ({ settings }) =>
      settings.address.toLowerCase() === address.toLowerCase() &&
      isDeepStrictEqual(settings.conditions, conditions),
  );
  if (same === undefined) return;
  const alike = conditions.length === 0 ? "" : " with these conditions";
  throw new FormsvcError(
    "already_exists",
    `${address} is a recipient of this endpoint${alike} already: ${same.id}`,
  );
}

/** @throws not_found */
export function getMailRecipient(id: string): Steps<MailRecipient> {
  return getRecipientOf(MAIL_RECIPIENTS, id);
}

/** Recipients, oldest first. @param endpointId null means every endpoint. */
export function listMailRecipients(endpointId: string | null): Steps<MailRecipient[]> {
  return listRecipientsOf(MAIL_RECIPIENTS, endpointId === null ? null : [endpointId]);
}

/**
 * Changes the settings. Waiting messages use the new settings; conditions hold only for later submissions. If the digest changes, the
 * messages gathered so far go out now.
 *
 * @throws usage; already_exists if another recipient has the same address and conditions.
 */
export function* updateMailRecipientRows(
  { id, endpointId, settings }: MailRecipient,
  given: Partial<Omit<MailRecipientSettings, "address">>,
  now: number,
): Steps<MailRecipient> {
  const wanted = { ...settings, ...checkRecipientSettings(given) };
  const { subject, digest, language } = wanted;
  const attach = Number(wanted.attach);
  const others = (yield* listMailRecipients(endpointId)).filter((other) => other.id !== id);
  if (given.conditions !== undefined) requireNoneEqual(others, wanted);
  yield* run(
    query.updateTable("mail_recipient").set({ subject, digest, language, attach }).where("id", "=", id),
  );
  yield* setWanted(id, wanted);
  if (digest !== settings.digest) yield* endGathering(id, now);
  return yield* getMailRecipient(id);
}

/** Records that the holder of the address wants no more e-mail. */
export function* setUnsubscribed(id: string, now: number): Steps<void> {
  yield* run(query.updateTable("mail_recipient").set({ unsubscribed_at: now }).where("id", "=", id));
}

/** The confirmation that a holder is asked for, with a hash of its token; null if none is asked for. */
export interface OpenConfirmation {
  readonly hash: Buffer;
  readonly expiresAt: number;
}

export function* readConfirmation(id: string): Steps<OpenConfirmation | null> {
  const row = yield* first(
    query
      .selectFrom("mail_recipient")
      .select(["confirmation_hash", "confirmation_expires_at"])
      .where("id", "=", id),
  );
  const { confirmation_hash: hash = null, confirmation_expires_at: expiresAt = null } = row ?? {};
  return hash === null || expiresAt === null ? null : { hash, expiresAt };
}

/** Stores a confirmation in place of the one before; null deletes it. */
export function* writeConfirmation(id: string, open: OpenConfirmation | null): Steps<void> {
  yield* run(
    query
      .updateTable("mail_recipient")
      .set({ confirmation_hash: open?.hash ?? null, confirmation_expires_at: open?.expiresAt ?? null })
      .where("id", "=", id),
  );
  yield* raiseSettingsVersion("rows");
}

function toMailRecipient(
  { kind: _kind, maxSpamScore, conditions, ...rest }: Recipient,
  row: Selectable<Tables["mail_recipient"]>,
): MailRecipient {
  const { address, subject, digest } = row;
  const language = findLanguage(row.language);
  return {
    ...rest,
    settings: { address, subject, digest, language, attach: row.attach === 1, maxSpamScore, conditions },
    unsubscribeToken: row.unsubscribe_token,
    unsubscribedAt: row.unsubscribed_at,
  };
}
