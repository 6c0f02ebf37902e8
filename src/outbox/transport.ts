import type { Breaker } from "./breaker.ts";
import type { ClaimedDelivery } from "./claims.ts";
import type { RecipientState } from "./recipient.ts";

/** One way to send messages, and the kind of recipient that it sends to. */
export interface Transport {
  /** As `recipient.kind` has it. */
  readonly kind: string;
  readonly policy: DeliveryPolicy;
  /** By the ids of its recipients. Messages to one that has no route now wait until it has. */
  routes(now: number): ReadonlyMap<string, Route>;
  /** Told of every attempt that is on record, for the log. */
  report(ended: EndedAttempt, record: RecordedAttempt): void;
  /** Ends every connection. Attempts under way end soon, with the outcome `interrupted`. */
  destroy(): Promise<void>;
}

/** How one recipient is reached. */
export interface Route {
  /** Recipients at the same place share a limit of attempts under way. For webhooks it is the host. */
  readonly place: string;
  /** Makes one attempt and never rejects. Its time limit starts now. */
  send(message: Message): Promise<AttemptResult>;
}

export interface Message {
  /** `msg_…`, the same for every attempt. */
  readonly id: string;
  /** The notification as JSON, the same bytes for every recipient and every attempt. */
  readonly body: Buffer;
}

/**
 * Whom a failure speaks about. Those of the `recipient` count towards its breaker. Failures of our `own` say nothing about
 * the recipient and spend no attempt.
 */
export type Blame = "nobody" | "recipient" | "own";

export interface AttemptResult {
  /** A word for the record. `gone`: the recipient wants no more messages; given twice, it is stopped. */
  readonly outcome: string;
  /** `nobody` means that the message was delivered. */
  readonly blame: Blame;
  /** For people: what happened, and what to do about it if that is known. */
  readonly message: string;
  /** What the recipient's server answered as a number; null when it did not answer. */
  readonly status: number | null;
  /** The start of a failing recipient's answer; null when there was none. */
  readonly answer: string | null;
  /** How long the recipient asks us to wait; null when it does not ask. */
  readonly retryAfterMs: number | null;
  readonly durationMs: number;
}

/** How persistently a transport sends, and how much at once. */
export interface DeliveryPolicy {
  /** Delays between attempts in seconds; one attempt more than delays is made. */
  readonly scheduleSeconds: readonly number[];
  /** Waits between probes in seconds; the last one repeats. */
  readonly probeSeconds: readonly number[];
  readonly limits: DeliveryLimits;
}

/** Most attempts under way at once. */
export interface DeliveryLimits {
  readonly total: number;
  readonly perPlace: number;
  readonly perRecipient: number;
}

/** A finished attempt that is not recorded yet. */
export interface EndedAttempt {
  readonly delivery: ClaimedDelivery;
  readonly result: AttemptResult;
  readonly transport: Transport;
  /** From 0 up to 1; drawn when the attempt ended, so that recording it again gives the same plan. */
  readonly random: number;
}

export interface RecordedAttempt {
  /** Of the recipient, before the attempt was recorded. */
  readonly before: RecipientState;
  readonly after: Settlement;
}

/** The rows after an attempt. */
export interface Settlement {
  readonly state: "delivered" | "pending" | "held" | "failed";
  readonly spent: number;
  readonly interruptions: number;
  readonly dueAt: number;
  readonly recipientState: RecipientState;
  readonly breaker: Breaker;
  readonly goneAt: number | null;
  readonly failingSince: number | null;
}
