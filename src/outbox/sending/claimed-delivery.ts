/** A delivery of this process, until it is recorded or given back. */
export interface Claim {
  readonly id: string;
  readonly recipientId: string;
  /** The number of the attempt that begins now; its result must be recorded with it. */
  readonly attempt: number;
  readonly spent: number;
  readonly interruptions: number;
  readonly isProbe: boolean;
  readonly claimedAt: number;
  /** The row of the outbox that has the message until the attempt has ended; null if it is in `delivery` already. */
  readonly outboxNumber: number | null;
  /** Messages that go with it in one summary, oldest first; none for most. */
  readonly memberIds: readonly string[];
}

/** One that this process must send. */
export interface ClaimedDelivery extends Claim {
  readonly body: string;
  /** The bodies of the first of those. */
  readonly memberBodies: readonly string[];
}

/** What stays in memory of a delivery that is sent, or will not be: its bodies may be large. */
export function withoutBodies({
  id,
  recipientId,
  attempt,
  spent,
  interruptions,
  isProbe,
  claimedAt,
  outboxNumber,
  memberIds,
}: Claim): Claim {
  const before = { attempt, spent, interruptions };
  return { id, recipientId, ...before, isProbe, claimedAt, outboxNumber, memberIds };
}

/** For a message that goes by itself. */
export const ALONE = { outboxNumber: null, memberIds: [], memberBodies: [] } as const;

/** The body of a message in its submission's row: head, data and tail, or the head alone if there is no tail. NULL if the row is gone. */
export const BODY_SQL = "coalesce(event_head || submission.data || event_tail, event_head)";

/** The body of a delivery, which may have one of its own. */
export const OWN_BODY_SQL = `coalesce(delivery.event, ${BODY_SQL})`;

/** Its length in bytes of UTF-8, which reads no text that is stored outside the row. */
export const BODY_BYTES_SQL = `coalesce(octet_length(event_head) + octet_length(submission.data) + octet_length(event_tail),
  octet_length(event_head), 0)`;

/** The same of one that was read. A defect may have lost it: then it cannot be sent, and that is recorded like a failure. */
export function bytesOf(body: string | null): number {
  return body === null ? 0 : Buffer.byteLength(body);
}
