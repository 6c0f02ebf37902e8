import type { Condition } from "./conditions.ts";
import type { Breaker } from "../sending/breaker.ts";

/** Its owner disabled it (`disabled`), or it reported that it is gone (`stopped`). Both hold their deliveries. */
export type RecipientState = "enabled" | "disabled" | "stopped";

/** The highest spam score that a submission can have. */
export const MAX_SPAM_SCORE = 100;

/**
 * The kind of the recipient that stands for the sender of a post. Whether the sender gets a message can be decided only while a post is
 * stored, so a submission that comes another way has no automatic reply.
 */
export const REPLY_KIND = "autoreply";

/** A recipient of an endpoint's notifications, as the outbox sees it. Only its transport knows how to reach it. */
export interface Recipient {
  readonly id: string;
  /** The kind, which names the transport that sends to it. */
  readonly kind: string;
  readonly endpointId: string;
  /** It gets no submission with a higher spam score; 0 to {@link MAX_SPAM_SCORE}. */
  readonly maxSpamScore: number;
  /** It gets only submissions that meet all of these conditions. */
  readonly conditions: readonly Condition[];
  readonly state: RecipientState;
  readonly breaker: Breaker;
  /** When it first answered, since its last success, that it is gone; null if it has not. */
  readonly goneAt: number | null;
  /** When the first failure since the last success happened; null if there was none. */
  readonly failingSince: number | null;
  /** How many messages in a row it refused for good. */
  readonly refusals: number;
  /** When the recipient agreed to get messages; null until then, and nothing is queued for it. */
  readonly confirmedAt: number | null;
  readonly createdAt: number;
}

/** A recipient that messages are sent to. */
export interface EnabledRecipient extends Recipient {
  /** The workspace of its endpoint. */
  readonly workspaceId: string;
}

export type NewRecipient = Pick<Recipient, "id" | "kind" | "endpointId" | "maxSpamScore" | "confirmedAt"> &
  Partial<Pick<Recipient, "conditions">>;

/** The largest number of recipients of one kind that an endpoint may have. */
export const MAX_RECIPIENTS_OF_KIND = 50;
