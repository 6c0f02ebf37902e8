import type { SafeSnapshot } from "../../database/confirmations.ts";
import type { Steps } from "../../database/steps.ts";
import type { LiveServers } from "../../database/live-servers.ts";
import type { Claim, ClaimedDelivery } from "./claimed-delivery.ts";
import type { RecipientState } from "../queue/recipient.ts";
import type { EndedAttempt, RecordedAttempt } from "./transport.ts";

/** How many deliveries of a recipient are wanted. */
export interface Want {
  readonly recipientId: string;
  readonly limit: number;
}

/** Deliveries that wait in memory once they are claimed. */
export interface AheadWant extends Want {
  /** The largest number of UTF-8 bytes of their bodies. */
  readonly bytes: number;
}

/** A delivery whose server has ended while it was sending. */
export interface AbandonedRow {
  readonly id: string;
  readonly attempts: number;
  readonly spent: number;
  readonly interruptions: number;
  readonly claimed_at: number | null;
  readonly is_probe: number;
  readonly recipient_state: RecipientState;
  readonly kind: string;
}

/** What is about submissions that only the primary may have is not sent. */
export interface UnconfirmedClaims {
  /** As `Confirmations` has it. Call it after the transaction that claimed. */
  confirm(): Promise<SafeSnapshot | null>;
  /**
   * Has those of some claims go back that are about a submission which is not known to be safe, to be claimed at that time again. Returns
   * their ids. Inside a transaction.
   */
  postpone(claims: readonly Claim[], safe: SafeSnapshot, until: number): Steps<ReadonlySet<string>>;
}

/** What the deliverer does with its rows all the time, in the way that is best for an engine. Inside a transaction. */
export interface Claims {
  /** The servers that share the recipients; on a file there is one. */
  readonly servers: LiveServers;
  /** Whether other servers take part. */
  readonly isShared: boolean;
  /** Null if there is one machine only. */
  readonly unconfirmed: UnconfirmedClaims | null;
  /** When the earliest pending delivery of each recipient is due, 0 when one waits in the outbox; null when none waits. */
  earliestDue(recipientIds: readonly string[]): Steps<ReadonlyMap<string, number | null>>;
  /**
   * Takes due deliveries of each recipient, oldest first, then its messages of the outbox. Nothing is sent unless `sending` is
   * recorded.
   */
  claimDue(wants: readonly Want[], now: number): Steps<ReadonlyMap<string, readonly ClaimedDelivery[]>>;
  /**
   * The same for recipients that answer fast, as far as the bodies fit. What does not fit is not passed over, so that it is
   * sent before what was queued after it: then nothing more is claimed for its recipient.
   */
  claimAhead(
    wants: readonly AheadWant[],
    now: number,
  ): Steps<ReadonlyMap<string, readonly ClaimedDelivery[]>>;
  /** Takes the delivery that waits longest, due or not, from the outbox too, to find out whether the recipient is back. */
  claimProbe(recipientId: string, now: number): Steps<readonly ClaimedDelivery[]>;
  /** Takes messages of the outbox alone. */
  claimQueued(want: Want, now: number): Steps<readonly ClaimedDelivery[]>;
  /** Takes one pending delivery by its id. False if somebody else has it. */
  claimOne(id: string, now: number): Steps<boolean>;
  /** Takes those that wait of the messages that go with another one. Their attempts are that one's. */
  claimMembers(ids: readonly string[]): Steps<void>;
  /** Undoes claims of which nothing was sent; those that are no longer that attempt's stay as they are. */
  giveBack(deliveries: readonly Claim[]): Steps<void>;
  /**
   * Records how attempts ended. The result is null for an attempt whose delivery is no longer its own: the delivery was deleted
   * with its submission or recipient.
   */
  finish(ended: readonly EndedAttempt[], now: number): Steps<(RecordedAttempt | null)[]>;
  /** Deliveries that a server was sending when it was lost. On a file those of an earlier process: ask at the start only. */
  readAbandoned(): Steps<readonly AbandonedRow[]>;
  /**
   * Has deliveries go back that this server has claimed and does not know of, because it did not hear that the claim was committed.
   *
   * @param ownIds of all that it knows of.
   */
  giveBackUnknown(ownIds: readonly string[]): Steps<void>;
  /** Recipients that messages of the outbox wait for. */
  readQueued(): Steps<readonly string[]>;
}
