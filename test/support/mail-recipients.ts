import type { Steps } from "../../src/database/steps.ts";
import type { MailRecipient, MailRecipientSettings } from "../../src/mail/recipients/mail-recipient.ts";
import {
  getMailRecipient,
  insertMailRecipientRows,
  updateMailRecipientRows,
} from "../../src/mail/recipients/mail-recipient-store.ts";

interface Made {
  readonly endpointId: string;
  readonly settings: MailRecipientSettings;
  /** Whether the person with this address agreed to get e-mail. */
  readonly isConfirmed: boolean;
}

/** Adds a recipient of e-mail, without an audit event. */
export function addMailRecipient(
  { endpointId, settings, isConfirmed }: Made,
  now: number,
): Steps<MailRecipient> {
  return insertMailRecipientRows(endpointId, settings, isConfirmed ? now : null, now);
}

/** Changes a recipient inside a transaction, without an audit event. */
export function* changeMailRecipient(
  { id, change }: { readonly id: string; readonly change: Partial<Omit<MailRecipientSettings, "address">> },
  now: number,
): Steps<MailRecipient> {
  return yield* updateMailRecipientRows(yield* getMailRecipient(id), change, now);
}
