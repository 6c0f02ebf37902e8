import type { Breaker } from "./breaker.ts";

/** `disabled` by its owner, `stopped` because it is gone. Both hold their deliveries. */
export type RecipientState = "enabled" | "disabled" | "stopped";

/** A recipient of an endpoint's notifications, as the outbox sees it. Its transport knows how to reach it. */
export interface Recipient {
  readonly id: string;
  /** The transport that sends to it. */
  readonly kind: string;
  readonly endpointId: string;
  /** It gets no submission with a higher spam score; 0 to 100. */
  readonly maxSpamScore: number;
  readonly state: RecipientState;
  readonly breaker: Breaker;
  /** When it said for the first time since the last success that it is gone; null when it did not. */
  readonly goneAt: number | null;
  /** The first failure since the last success; null while all is well. */
  readonly failingSince: number | null;
  readonly createdAt: number;
}

export type NewRecipient = Pick<Recipient, "id" | "kind" | "endpointId" | "maxSpamScore">;
