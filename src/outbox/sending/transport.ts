import type { Steps } from "../../database/steps.ts";
import type { Breaker } from "./breaker.ts";
import type { Claim } from "./claimed-delivery.ts";
import type { RecipientState } from "../queue/recipient.ts";

/** A way to send messages to one kind of recipient. */
export interface Transport {
  /** The kind, as in `recipient.kind`. */
  readonly kind: string;
  /**
   * The kind whose destinations, slots and messages a minute it shares: its own, or the kind of another transport whose messages go the
   * same way. Both must have the same limits.
   */
  readonly sharedKind: string;
  readonly policy: DeliveryPolicy;
  /** The routes by the ids of the recipients. Messages to a recipient without a route wait until it has one. */
  routes(now: number): Promise<ReadonlyMap<string, Route>>;
  /**
   * Reads what tells the present addresses of these recipients apart, as {@link Route.address} has it. Absent if their addresses never
   * change. Call inside a transaction.
   */
  readonly addressesNow?: (ids: readonly string[]) => Steps<ReadonlyMap<string, string>>;
  /** Logs an attempt. It is called for every attempt that is on record. */
  report(ended: EndedAttempt, record: RecordedAttempt): void;
  /** Ends every connection. Attempts under way end soon, with the outcome `interrupted`. */
  destroy(): Promise<void>;
}

/** How one recipient is reached. */
export interface Route {
  /** The host of a webhook, or the mail server of e-mail. Recipients at the same destination share a limit of attempts under way. */
  readonly destination: string;
  /** Tells the address apart from an earlier or later one of this recipient. Absent if it never changes. */
  readonly address?: string;
  /** How long messages are gathered, to go as one; null if each goes by itself. Needs a policy with a pace. */
  readonly gatherSeconds: number | null;
  /** Makes one attempt, whose time limit starts now. It rejects only because of a defect, which counts as a failure of the recipient. */
  send(message: Message): Promise<AttemptResult>;
}

export interface Message {
  /** `msg_…`, the same for every attempt. */
  readonly id: string;
  /** The notification as JSON, the same for every recipient and every attempt. */
  readonly body: string;
  /** The ids of the messages that go with it in one summary; empty unless the policy has a pace. */
  readonly memberIds: readonly string[];
  /** The bodies of the first messages in `memberIds`, oldest first; at most 49. */
  readonly memberBodies: readonly string[];
}

/**
 * Whom the result of an attempt speaks about. `nobody` means that the message was delivered.
 *
 * - `recipient`: it failed for now. Spends an attempt of the schedule and counts towards the recipient's breaker.
 * - `access`: the recipient's server refuses us, whatever the message: a token of the recipient's settings is wrong. Nothing is spent;
 *   from the first one on the recipient gets probes only.
 * - `message`: this message was refused for good. No further attempt is made; several in a row stop the recipient.
 * - `destination`: nobody there can be reached, or we are refused before anything was said about the message. Nothing is spent; all
 *   recipients at the destination wait, and one message at a time finds out whether it is back.
 * - `unsure`: it may have arrived. `DeliveryPolicy.afterUnsure` decides.
 * - `own`: we ended the attempt ourselves, and nothing had arrived. Nothing is spent.
 */
export type Blame = "nobody" | "recipient" | "access" | "message" | "destination" | "unsure" | "own";

export interface AttemptResult {
  /** A word for the record. `gone` means that the recipient wants no more messages; a recipient that answers it twice is stopped. */
  readonly outcome: string;
  readonly blame: Blame;
  /** For people: what happened, and what to do about it if that is known. */
  readonly message: string;
  /** The status code that the recipient's server answered; null if it did not answer. */
  readonly status: number | null;
  /** The start of the answer to a failed attempt; null if there was none. */
  readonly answer: string | null;
  /** How long the recipient asks us to wait; null if it does not ask. */
  readonly retryAfterMs: number | null;
  readonly durationMs: number;
}

/** How persistently a transport sends, and how much at once. */
export interface DeliveryPolicy {
  /** Delays between attempts in seconds; one attempt more than delays is made. */
  readonly scheduleSeconds: readonly number[];
  /** Waits between probes in seconds, of a recipient or a destination; the last one repeats. */
  readonly probeSeconds: readonly number[];
  /** After this number of failures in a row a recipient gets only probes. Infinity: each message follows its own schedule. */
  readonly failuresUntilProbes: number;
  /** After this number of messages in a row that were refused for good, a recipient is stopped. */
  readonly refusalsUntilStopped: number;
  /** Null if recipients recognise a repeated message, so that an attempt with an unknown end may be made again soon. */
  readonly afterUnsure: UnsureRule | null;
  readonly limits: DeliveryLimits;
  /** Null if each message is sent as soon as it may. */
  readonly pace: Pace | null;
}

/**
 * Limits the messages that begin. A message counts once, before its first attempt. Beyond the limits of a recipient, its messages are
 * gathered until the window ends, and go as one.
 */
export interface Pace {
  /** Messages to all recipients together; beyond it messages wait. */
  readonly perMinute: number;
  readonly perRecipientPerHour: number;
  /** The window begins with the first message and does not slide. */
  readonly perRecipientInWindow: { readonly most: number; readonly seconds: number };
}

/** Says what follows an attempt that may have delivered, because its connection or this process ended before the answer. */
interface UnsureRule {
  /** The seconds that the message then waits. */
  readonly delaySeconds: number;
  /** How many times one message is sent again after such an attempt. After that it has failed, and a person decides. */
  readonly most: number;
}

/** The largest number of attempts under way at once. */
interface DeliveryLimits {
  readonly total: number;
  readonly perDestination: number;
  readonly perRecipient: number;
}

/** A finished attempt that is not recorded yet. */
export interface EndedAttempt {
  readonly delivery: Claim;
  readonly result: AttemptResult;
  readonly transport: Transport;
  /** The address of the route that it took, as {@link Route.address}. */
  readonly sentTo?: string | undefined;
  /** From 0 up to 1. It is drawn when the attempt ended, so that recording the attempt again gives the same plan. */
  readonly random: number;
}

export interface RecordedAttempt {
  /** The state of the recipient before the attempt was recorded. */
  readonly before: RecipientState;
  readonly after: Settlement;
}

/** What is written to the rows after an attempt. */
export interface Settlement {
  readonly state: "delivered" | "pending" | "held" | "failed";
  readonly spent: number;
  readonly interruptions: number;
  /** When the next attempt is planned; null leaves the time as it was. */
  readonly dueAt: number | null;
  readonly recipientState: RecipientState;
  readonly breaker: Breaker;
  readonly goneAt: number | null;
  readonly failingSince: number | null;
  readonly refusals: number;
}
