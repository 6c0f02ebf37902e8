import type { SafeSnapshot } from "../../database/confirmations.ts";
import type { Steps } from "../../database/steps.ts";
import type { LiveServers } from "../../database/live-servers.ts";
import type { Claim, ClaimedDelivery } from "./claimed-delivery.ts";
import type { RecipientState } from "../queue/recipient.ts";
import type { EndedAttempt, RecordedAttempt } from "./transport.ts";

/** The largest number of deliveries that are wanted for a recipient. */
export interface Want {
  readonly recipientId: string;
  readonly limit: number;
}

/** A request for deliveries that are claimed ahead and wait in memory. */
export interface AheadWant extends Want {
  /** The largest number of UTF-8 bytes of all their bodies. */
  readonly bytes: number;
}

/** A delivery that a server was sending when it ended. */
export interface AbandonedRow {
  readonly id: string;
  readonly attempts: number;
  readonly spent: number;
  readonly interruptions: number;
  readonly recipient_state: RecipientState;
  readonly kind: string;
}

/** Keeps back messages about submissions that may exist only on the primary: they would be lost with it. */
export interface UnconfirmedClaims {
  /** As `Confirmations.confirm`. Call it after the transaction that claimed. */
  confirm(): Promise<SafeSnapshot | null>;
  /**
   * Gives back those of the claims that are about a submission which the standby may not have. They become due again at `until`. Call
   * inside a transaction.
   *
   * @returns their ids.
   */
  postpone(claims: readonly Claim[], safe: SafeSnapshot, until: number): Steps<ReadonlySet<string>>;
}

/** The statements that the deliverer runs all the time, in the fastest way for each engine. Call inside a transaction. */
export interface Claims {
  /** The servers that share the recipients; on SQLite there is one. */
  readonly servers: LiveServers;
  /** Whether other servers take part. */
  readonly isShared: boolean;
  /** Null if the database has no standby. */
  readonly unconfirmed: UnconfirmedClaims | null;
  /** For each recipient: when its earliest pending delivery is due, 0 if a message waits in the outbox, null if none waits. */
  earliestDue(recipientIds: readonly string[]): Steps<ReadonlyMap<string, number | null>>;
  /**
   * Claims due deliveries of each recipient, oldest first, and then its messages of the outbox. A message is sent only after its state
   * `sending` was committed.
   */
  claimDue(wants: readonly Want[], now: number): Steps<ReadonlyMap<string, readonly ClaimedDelivery[]>>;
  /**
   * Like {@link Claims.claimDue}, for recipients that answer fast, as far as the bodies fit. After a body that does not fit, nothing more
   * is claimed for its recipient, so that messages keep their order.
   */
  claimAhead(
    wants: readonly AheadWant[],
    now: number,
  ): Steps<ReadonlyMap<string, readonly ClaimedDelivery[]>>;
  /** Claims the delivery that waits longest, due or not, in the outbox too, to find out whether the recipient is back. */
  claimProbe(recipientId: string, now: number): Steps<readonly ClaimedDelivery[]>;
  /** Claims messages of the outbox alone. */
  claimFromOutbox(want: Want, now: number): Steps<readonly ClaimedDelivery[]>;
  /** Claims one pending delivery by its id. False if it is no longer pending. */
  claimOne(id: string, now: number): Steps<boolean>;
  /** Claims the messages in `ids`, which go with another one, if they still wait. The attempts of that one count for them. */
  claimMembers(ids: readonly string[]): Steps<void>;
  /**
   * Undoes claims of which nothing was sent, with the messages that go with them. A delivery that has since been claimed for another
   * attempt stays as it is.
   */
  giveBack(deliveries: readonly Claim[]): Steps<void>;
  /**
   * Records how attempts ended. The result is null for an attempt whose delivery is no longer its own, for example because it was deleted
   * with its submission or recipient.
   */
  finish(ended: readonly EndedAttempt[], now: number): Steps<(RecordedAttempt | null)[]>;
  /**
   * Deliveries that a server was sending when it was lost. On SQLite they are those of an earlier process, so call it only at the start.
   */
  readAbandoned(): Steps<readonly AbandonedRow[]>;
  /**
   * Gives back deliveries that this server has claimed without knowing it, because it did not hear that the claim was committed.
   *
   * @param ownIds the ids of all claims that it knows of.
   */
  giveBackUnknown(ownIds: readonly string[]): Steps<void>;
  /** The recipients for which messages wait in the outbox. */
  readQueued(): Steps<readonly string[]>;
}
