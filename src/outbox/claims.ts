/** A delivery that this process must send. */
export interface ClaimedDelivery {
  readonly id: string;
  readonly recipientId: string;
  /** The number of the attempt that begins now; its result must be recorded with it. */
  readonly attempt: number;
  readonly spent: number;
  readonly interruptions: number;
  readonly isProbe: boolean;
  readonly claimedAt: number;
  readonly body: Buffer;
  /** Messages that go with it in one summary, oldest first; none for most. */
  readonly memberIds: readonly string[];
  /** The bodies of the first of those. */
  readonly memberBodies: readonly Buffer[];
}

/** For a message that goes by itself. */
export const ALONE = { memberIds: [], memberBodies: [] } as const;

export interface Claims {
  /** When the earliest pending delivery of a recipient is due, 0 when one waits in the outbox; null when none waits. */
  earliestDue(recipientId: string): number | null;
  /** Takes due deliveries, oldest first, then messages of the outbox. Inside a transaction: nothing is sent unless `sending` is recorded. */
  claimDue(recipientId: string, limit: number, now: number): ClaimedDelivery[];
  /** Takes the delivery that waits longest, due or not, from the outbox too, to find out whether the recipient is back. */
  claimProbe(recipientId: string, now: number): ClaimedDelivery[];
  /** Undoes claims of which nothing was sent; those that are no longer that attempt's stay as they are. */
  giveBack(deliveries: readonly ClaimedDelivery[]): void;
  /** Brings deliveries back that a wrong clock planned after `latest`. */
  pullForward(recipientId: string, latest: number): void;
}
