import type { ClaimedDelivery } from "./claimed-delivery.ts";
import type { RoundDraft } from "./round-draft.ts";

/** What this server has claimed. Changed only after a commit. */
export class HeldClaims {
  readonly #isShared: boolean;
  /** Claimed and neither recorded nor back, by their ids; empty if nobody else takes part. */
  readonly #held = new Map<string, ClaimedDelivery>();
  /** Claimed, and will not be sent: they go back with the next transaction. */
  readonly #returning: ClaimedDelivery[] = [];

  /** @param isShared whether other servers take part. */
  constructor(isShared: boolean) {
    this.#isShared = isShared;
  }

  /** What will go back, as of now. */
  get returning(): readonly ClaimedDelivery[] {
    return [...this.#returning];
  }

  get areReturning(): boolean {
    return this.#returning.length > 0;
  }

  /** Ids of all that this server knows of, with the messages that go with others. */
  ids(): string[] {
    return [...this.#held.values()].flatMap(({ id, memberIds }) => memberIds.concat(id));
  }

  /** What a round has claimed. */
  hold({ sendings, ahead }: RoundDraft): void {
    if (!this.#isShared) return;
    for (const { delivery } of sendings) this.#held.set(delivery.id, delivery);
    for (const delivery of [...ahead.values()].flat()) this.#held.set(delivery.id, delivery);
  }

  recorded(delivery: ClaimedDelivery): void {
    this.#held.delete(delivery.id);
  }

  return(deliveries: readonly ClaimedDelivery[]): void {
    this.#returning.push(...deliveries);
  }

  /** These have gone back: what {@link HeldClaims.returning} was. */
  forgetReturned(returned: readonly ClaimedDelivery[]): void {
    this.#returning.splice(0, returned.length);
    for (const { id } of returned) this.#held.delete(id);
  }
}
