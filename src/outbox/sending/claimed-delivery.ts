/** A delivery that this process has claimed, until its attempt is recorded or the claim is given back. */
export interface Claim {
  readonly id: string;
  readonly recipientId: string;
  /** The number of the attempt that begins now. The result is recorded only if this is still the delivery's last attempt. */
  readonly attempt: number;
  readonly spent: number;
  readonly interruptions: number;
  readonly isProbe: boolean;
  readonly claimedAt: number;
  /**
   * The number of the claimed outbox row that holds the message until the attempt has ended; null if the message is already in `delivery`.
   */
  readonly outboxNumber: number | null;
  /** The ids of the messages that go with it in one summary, oldest first; usually empty. */
  readonly memberIds: readonly string[];
}

/** What every delivery of one claim has in common. */
export type ClaimMarks = Pick<Claim, "isProbe" | "claimedAt">;

/** A claimed delivery with all that sending it needs. */
export interface ClaimedDelivery extends Claim {
  readonly body: string;
  /** The bodies of the first messages in `memberIds`. */
  readonly memberBodies: readonly string[];
}

/** Drops the bodies, which may be large, from a delivery that was sent or will not be sent. */
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

/** The members of a claim for a message that goes by itself. */
export const ALONE = { outboxNumber: null, memberIds: [], memberBodies: [] } as const;

/**
 * The body of a message in its submission's row: head, data and tail, or the head alone if there is no tail. NULL if the row does not exist
 * any more.
 */
export const BODY_SQL = "coalesce(event_head || submission.data || event_tail, event_head)";

/** The body of a delivery: its own if it has one, else that of its submission. */
export const OWN_BODY_SQL = `coalesce(delivery.event, ${BODY_SQL})`;

/** Whether the message that a message goes with is not being sent, or was deleted. A condition on `delivery`. */
export const IS_LEFT_BY_LEAD = `NOT EXISTS (SELECT 1 FROM delivery AS lead
  WHERE lead.id = delivery.lead_id AND lead.state = 'sending')`;

/** The length of {@link BODY_SQL} in UTF-8 bytes. It needs no text that is stored outside the row. */
export const BODY_BYTES_SQL = `coalesce(octet_length(event_head) + octet_length(submission.data) + octet_length(event_tail),
  octet_length(event_head), 0)`;

/**
 * The length of a body in UTF-8 bytes. Null counts as 0: a defect may have lost the body; the message then cannot be sent, and that is
 * recorded like a failure.
 */
export function bytesOf(body: string | null): number {
  return body === null ? 0 : Buffer.byteLength(body);
}
