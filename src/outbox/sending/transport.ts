import type { Breaker } from "./breaker.ts";
import type { Claim } from "./claimed-delivery.ts";
import type { RecipientState } from "../queue/recipient.ts";

/** One way to send messages, and the kind of recipient that it sends to. */
export interface Transport {
  /** As `recipient.kind` has it. */
  readonly kind: string;
  /**
   * The kind whose destinations, slots and pace of a minute it shares: its own, or that of another transport whose messages go the same
   * way. Both have the same limits of these.
   */
  readonly sharedKind: string;
  readonly policy: DeliveryPolicy;
  /** By the ids of its recipients. Messages to one that has no route now wait until it has. */
  routes(now: number): Promise<ReadonlyMap<string, Route>>;
  /** Called for every attempt that is on record, for the log. */
  report(ended: EndedAttempt, record: RecordedAttempt): void;
  /** Ends every connection. Attempts under way end soon, with the outcome `interrupted`. */
  destroy(): Promise<void>;
}

/** How one recipient is reached. */
export interface Route {
  /** Recipients at the same destination share a limit of attempts under way. For webhooks it is the host, for e-mail the mail server. */
  readonly destination: string;
  /** How long its messages are gathered, to go as one; null if each goes by itself. Needs a policy with a pace. */
  readonly gatherSeconds: number | null;
  /** Makes one attempt. Its time limit starts now. It rejects by a defect alone, which counts as a failure of the recipient. */
  send(message: Message): Promise<AttemptResult>;
}

export interface Message {
  /** `msg_…`, the same for every attempt. */
  readonly id: string;
  /** The notification as JSON, the same for every recipient and every attempt. */
  readonly body: string;
  /** Messages that go with it in one summary; none unless the policy has a pace. */
  readonly memberIds: readonly string[];
  /** The bodies of the first of those, oldest first; at most 49. */
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
  /** A word for the record. `gone`: the recipient wants no more messages; given twice, it is stopped. */
  readonly outcome: string;
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
  /** Waits between probes in seconds, of a recipient or a destination; the last one repeats. */
  readonly probeSeconds: readonly number[];
  /** After this number of failures in a row a recipient gets probes only. Infinity: each message follows its own schedule. */
  readonly failuresUntilProbes: number;
  /** After this number of messages in a row that were refused for good a recipient is stopped. */
  readonly refusalsUntilStopped: number;
  /** Null if recipients recognise a repeated message: then an attempt without a known end is made again soon. */
  readonly afterUnsure: UnsureRule | null;
  readonly limits: DeliveryLimits;
  /** Null sends each message as soon as it may. */
  readonly pace: Pace | null;
}

/**
 * How many messages are begun. A message counts once, before its first attempt. Beyond the recipient's limits its messages are
 * gathered until the window ends, and go as one.
 */
export interface Pace {
  /** To all recipients together; beyond it messages wait. */
  readonly perMinute: number;
  readonly perRecipientPerHour: number;
  /** The window begins with the first message and does not slide. */
  readonly perRecipientInWindow: { readonly most: number; readonly seconds: number };
}

/** What follows an attempt that may have delivered, because its connection or this process ended in between. */
export interface UnsureRule {
  /** How long the message then waits. */
  readonly delaySeconds: number;
  /** How often one message is sent again for it; after that it has failed, and somebody decides. */
  readonly most: number;
}

/** The largest number of attempts under way at once. */
export interface DeliveryLimits {
  readonly total: number;
  readonly perDestination: number;
  readonly perRecipient: number;
}

/** A finished attempt that is not recorded yet. */
export interface EndedAttempt {
  readonly delivery: Claim;
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
  /** When the next attempt is planned; null leaves it as it was. */
  readonly dueAt: number | null;
  readonly recipientState: RecipientState;
  readonly breaker: Breaker;
  readonly goneAt: number | null;
  readonly failingSince: number | null;
  readonly refusals: number;
}
