import { listedIds } from "../database/list-parameter.ts";
import { all, type Built, type Steps } from "../database/steps.ts";
import { FormsvcError } from "../foundation/errors.ts";
import type { Recipient } from "../outbox/queue/recipient.ts";
import { findRecipient, listRecipients } from "../outbox/queue/recipient-store.ts";

/** The members that a recipient of any kind has. */
export interface AnyRecipient {
  readonly id: string;
  readonly endpointId: string;
}

/** A kind of recipient, as the feature that owns its own table describes it. */
export interface RecipientType<Of extends AnyRecipient> {
  /** The kind, as in `recipient.kind`. */
  readonly kind: string;
  /** Adds the kind's own columns to recipients, in the same order. A recipient without a row of its own is left out. */
  readonly complete: (recipients: readonly Recipient[]) => Steps<Of[]>;
  /** Makes the error for an id that belongs to no recipient of the kind. */
  readonly none: (id: string) => FormsvcError;
  /** The text for the record of changes. It never contains a secret. */
  readonly describe: (recipient: Of) => string;
  /** Called before a recipient is enabled; absent if every recipient may be. @throws conflict */
  readonly requireEnabling?: (recipient: Of) => void;
}

/** The recipient with this id; undefined if there is none of this kind. */
export function* findRecipientOf<Of extends AnyRecipient>(
  { kind, complete }: RecipientType<Of>,
  id: string,
): Steps<Of | undefined> {
  const found = yield* findRecipient(kind, id);
  return found && (yield* complete([found]))[0];
}

/** @throws not_found */
export function* getRecipientOf<Of extends AnyRecipient>(type: RecipientType<Of>, id: string): Steps<Of> {
  const found = yield* findRecipientOf(type, id);
  if (found === undefined) throw type.none(id);
  return found;
}

/** Recipients of these endpoints, oldest first. @param endpointIds null means every endpoint. */
export function* listRecipientsOf<Of extends AnyRecipient>(
  { kind, complete }: RecipientType<Of>,
  endpointIds: readonly string[] | null,
): Steps<Of[]> {
  return yield* complete(yield* listRecipients(kind, endpointIds));
}

/**
 * Joins each recipient with its own row, in the same order. A recipient without a row is left out. @param rowsOf selects the rows with
 * these ids.
 */
export function* joinRows<Row extends { readonly id: string }, Of>(
  recipients: readonly Recipient[],
  rowsOf: (ids: ReturnType<typeof listedIds>) => Built<Row>,
  join: (recipient: Recipient, row: Row) => Of,
): Steps<Of[]> {
  const rows = yield* all(rowsOf(listedIds(recipients.map(({ id }) => id))));
  const byId = new Map(rows.map((row) => [row.id, row]));
  return recipients.flatMap((recipient) => {
    const row = byId.get(recipient.id);
    return row === undefined ? [] : [join(recipient, row)];
  });
}

/** Makes the error for an id that belongs to no recipient or webhook. */
export function noneOf(noun: "recipient" | "webhook"): (id: string) => FormsvcError {
  return (id) =>
    new FormsvcError("not_found", `there is no ${noun} ${id}`, { hint: { kind: `list_${noun}s` } });
}
