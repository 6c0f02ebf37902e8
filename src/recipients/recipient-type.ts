import { listed } from "../database/list-parameter.ts";
import { all, type Built, type Steps } from "../database/steps.ts";
import { FormsvcError } from "../foundation/errors.ts";
import type { Recipient } from "../outbox/queue/recipient.ts";
import { findRecipient, listRecipients } from "../outbox/queue/recipient-store.ts";

/** What every recipient has, whatever kind it is of. */
export interface AnyRecipient {
  readonly id: string;
  readonly endpointId: string;
}

/** A kind of recipient, as the feature that owns its further columns knows it. */
export interface RecipientType<Of extends AnyRecipient> {
  /** As `recipient.kind` has it. */
  readonly kind: string;
  /** These with their further columns, in their order; without those whose own row is gone. */
  readonly complete: (recipients: readonly Recipient[]) => Steps<Of[]>;
  /** The refusal of an id that leads to none. */
  readonly none: (id: string) => FormsvcError;
  /** What the record of changes says of one. Never a secret. */
  readonly describe: (recipient: Of) => string;
  /** Asked before one is enabled; without it everybody may be. @throws conflict */
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

/** Recipients of these endpoints, oldest first. @param endpointIds null is every endpoint */
export function* listRecipientsOf<Of extends AnyRecipient>(
  { kind, complete }: RecipientType<Of>,
  endpointIds: readonly string[] | null,
): Steps<Of[]> {
  return yield* complete(yield* listRecipients(kind, endpointIds));
}

/** Each recipient with its own row, in their order; without those whose row is gone. @param rowsOf the rows with these ids */
export function* joinRows<Row extends { readonly id: string }, Of>(
  recipients: readonly Recipient[],
  rowsOf: (ids: ReturnType<typeof listed>) => Built<Row>,
  join: (recipient: Recipient, row: Row) => Of,
): Steps<Of[]> {
  const rows = yield* all(rowsOf(listed(recipients.map(({ id }) => id))));
  const byId = new Map(rows.map((row) => [row.id, row]));
  return recipients.flatMap((recipient) => {
    const row = byId.get(recipient.id);
    return row === undefined ? [] : [join(recipient, row)];
  });
}

/** The refusal of an id that leads to none of these. */
export function noneOf(noun: "recipient" | "webhook"): (id: string) => FormsvcError {
  return (id) =>
    new FormsvcError("not_found", `there is no ${noun} ${id}`, { hint: { kind: `list_${noun}s` } });
}
