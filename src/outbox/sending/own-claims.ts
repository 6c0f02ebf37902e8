import { type Claim, type ClaimedDelivery, withoutBodies } from "./claimed-delivery.ts";
import type { RoundDraft } from "./round-draft.ts";

/** The claims of this server. They change only after a commit. */
export class OwnClaims {
  readonly #isShared: boolean;
  /**
   * For each claim that is neither recorded nor given back, by its id: the messages that go with it. Empty if no other server takes part.
   */
  readonly #claimed = new Map<string, readonly string[]>();
  /** Claims that will not be sent: the next transaction gives them back. */
  readonly #returning: Claim[] = [];

  /** @param isShared whether other servers take part. */
  constructor(isShared: boolean) {
    this.#isShared = isShared;
  }

  /** A copy of the claims that the next transaction gives back. */
  get returning(): readonly Claim[] {
    return [...this.#returning];
  }

  get areReturning(): boolean {
    return this.#returning.length > 0;
  }

  /** The ids of all claims, with the messages that go with them. */
  ids(): string[] {
    return [...this.#claimed].flatMap(([id, memberIds]) => memberIds.concat(id));
  }

  /** Adds what a round has claimed. */
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

  /** Removes claims that were given back. @param returned what {@link OwnClaims.returning} was. */
  forgetReturned(returned: readonly Claim[]): void {
    this.#returning.splice(0, returned.length);
    for (const { id } of returned) this.#claimed.delete(id);
  }
}
