import { type Claim, type ClaimedDelivery, withoutBodies } from "./claimed-delivery.ts";
import type { RoundDraft } from "./round-draft.ts";

/** What this server has claimed. Changed only after a commit. */
export class OwnClaims {
  readonly #isShared: boolean;
  /** The messages that go with each that is neither recorded nor back, by its id; empty if no other server takes part. */
  readonly #claimed = new Map<string, readonly string[]>();
  /** Claimed, and will not be sent: they go back with the next transaction. */
  readonly #returning: Claim[] = [];

  /** @param isShared whether other servers take part. */
  constructor(isShared: boolean) {
    this.#isShared = isShared;
  }

  /** What will go back, as of now. */
  get returning(): readonly Claim[] {
    return [...this.#returning];
  }

  get areReturning(): boolean {
    return this.#returning.length > 0;
  }

  /** Ids of all that this server knows of, with the messages that go with others. */
  ids(): string[] {
    return [...this.#claimed].flatMap(([id, memberIds]) => memberIds.concat(id));
  }

  /** What a round has claimed. */
  add({ sendings, ahead }: RoundDraft): void {
    if (!this.#isShared) return;
    for (const { delivery } of sendings) this.#claimed.set(delivery.id, delivery.memberIds);
    for (const { id, memberIds } of [...ahead.values()].flat()) this.#claimed.set(id, memberIds);
  }

  recorded({ id }: Claim): void {
    this.#claimed.delete(id);
  }

  return(deliveries: readonly ClaimedDelivery[]): void {
    this.#returning.push(...deliveries.map(withoutBodies));
  }

  /** These have gone back: what {@link OwnClaims.returning} was. */
  forgetReturned(returned: readonly Claim[]): void {
    this.#returning.splice(0, returned.length);
    for (const { id } of returned) this.#claimed.delete(id);
  }
}
