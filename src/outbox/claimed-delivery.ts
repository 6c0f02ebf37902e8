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
