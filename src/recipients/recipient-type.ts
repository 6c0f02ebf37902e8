import type { Steps } from "../database/steps.ts";
import type { FormsvcError } from "../foundation/errors.ts";
import type { Recipient } from "../outbox/queue/recipient.ts";

/** What every recipient has, whatever kind it is of. */
export interface AnyRecipient {
  readonly id: string;
  readonly endpointId: string;
}

/** A kind of recipient, as the feature that owns its further columns knows it. */
export interface RecipientType<Of extends AnyRecipient> {
  /** As `recipient.kind` has it. */
  readonly kind: string;
  /** The recipient with its further columns; undefined if its own row is gone. */
  readonly complete: (recipient: Recipient) => Steps<Of | undefined>;
  /** The refusal of an id that leads to none. */
  readonly none: (id: string) => FormsvcError;
  /** What the record of changes says of one. Never a secret. */
  readonly describe: (member: Of) => string;
  /** Asked before one is enabled; without it everybody may be. @throws conflict */
  readonly requireEnabling?: (member: Of) => void;
}
