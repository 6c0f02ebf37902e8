import type { Condition } from "./conditions.ts";
import type { Breaker } from "../sending/breaker.ts";

/** `disabled` by its owner, `stopped` because it is gone. Both hold their deliveries. */
export type RecipientState = "enabled" | "disabled" | "stopped";

/** The highest spam score that a submission can have. */
export const MAX_SPAM_SCORE = 100;

/**
 * The kind of the recipient that stands for whoever posts. Only while a post is stored can it be decided whether it gets a message:
 * a submission that comes another way has none for it.
 */
export const REPLY_KIND = "autoreply";

/** A recipient of an endpoint's notifications, as the outbox sees it. Its transport knows how to reach it. */
export interface Recipient {
  readonly id: string;
  /** The transport that sends to it. */
  readonly kind: string;
  readonly endpointId: string;
  /** It gets no submission with a higher spam score; 0 to {@link MAX_SPAM_SCORE}. */
  readonly maxSpamScore: number;
  /** It gets only submissions that meet all of them. */
  readonly conditions: readonly Condition[];
  readonly state: RecipientState;
  readonly breaker: Breaker;
  /** When it said for the first time since the last success that it is gone; null when it did not. */
  readonly goneAt: number | null;
  /** The first failure since the last success; null while all is well. */
  readonly failingSince: number | null;
  /** Messages in a row that it refused for good. */
  readonly refusals: number;
  /** Null until somebody there agreed: nothing is queued for it before. */
  readonly confirmedAt: number | null;
  readonly createdAt: number;
}

/** One that messages are sent to. */
export interface EnabledRecipient extends Recipient {
  /** The one that its endpoint is in. */
  readonly workspaceId: string;
}

export type NewRecipient = Pick<Recipient, "id" | "kind" | "endpointId" | "maxSpamScore" | "confirmedAt"> &
  Partial<Pick<Recipient, "conditions">>;

/** Recipients of one kind that an endpoint may have. */
export const MAX_RECIPIENTS_OF_KIND = 50;
