/** The state of a delivery, as in docs/webhooks.md. */
export const DELIVERY_STATES = ["pending", "sending", "delivered", "held", "failed"] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** One message to one recipient. */
export interface Delivery {
  /** `msg_…`: the id of the message, which the recipient sees. */
  readonly id: string;
  readonly recipientId: string;
  readonly submissionId: string;
  readonly state: DeliveryState;
  /** All attempts made, probes and interrupted ones included. */
  readonly attempts: number;
  /** Attempts that count towards the schedule. */
  readonly spent: number;
  /** When the next attempt is planned; null unless pending. */
  readonly dueAt: number | null;
  /** The status code that answered the last attempt that got one; null if none has. */
  readonly lastStatus: number | null;
  /** The id of the message that leads the summary and has its attempts; null if this message leads or goes by itself. */
  readonly leadId: string | null;
  /** How many other messages are in the same summary; 0 if it goes by itself. */
  readonly others: number;
}

/** Whether it waits for other messages, to go with them as one. */
export function isGathered(
  { state, attempts, dueAt }: Pick<Delivery, "state" | "attempts" | "dueAt">,
  now: number,
): boolean {
  return state === "pending" && attempts === 0 && dueAt !== null && dueAt > now;
}

export interface Attempt {
  /** Counted from 1. */
  readonly number: number;
  readonly startedAt: number;
  readonly durationMs: number;
  readonly outcome: string;
  readonly status: number | null;
  /** What happened, for people; null if the attempt delivered. */
  readonly message: string | null;
  /** The start of the receiver's answer to a failed attempt; null if there was none. */
  readonly answer: string | null;
  readonly isProbe: boolean;
}

/** The largest number of rows that one transaction of a bulk change touches, so that it never holds the file for long. */
export const BULK_BATCH = 500;
