import { withoutBodies } from "./claimed-delivery.ts";
import type { EndedAttempt } from "./transport.ts";

/** A round records them as soon as there are this many, even while other attempts are running. */
const MANY = 64;
/** The same over a network, where a round costs the database more. */
const MANY_OVER_NETWORK = 128;

/** Attempts that ended and are not recorded yet; their rows stay claimed, so nothing is sent twice. */
export class EndedAttempts {
  readonly #attempts: EndedAttempt[] = [];
  /** The number of attempts that no round has tried to record yet. */
  #newly = 0;
  readonly #many: number;

  /** @param isShared whether other servers take part. */
  constructor(isShared: boolean) {
    this.#many = isShared ? MANY_OVER_NETWORK : MANY;
  }

  get isEmpty(): boolean {
    return this.#attempts.length === 0;
  }

  /** Whether there are enough of them for a round. */
  get areMany(): boolean {
    return this.#newly >= this.#many;
  }

  add(ended: EndedAttempt): void {
    this.#attempts.push({ ...ended, delivery: withoutBodies(ended.delivery) });
    this.#newly += 1;
  }

  /** All attempts for a round to record. They stay in here until {@link EndedAttempts.recorded}. */
  take(): readonly EndedAttempt[] {
    this.#newly = 0;
    return [...this.#attempts];
  }

  /** Removes the attempts that {@link EndedAttempts.take} returned last, because they are on record. */
  recorded(ended: readonly EndedAttempt[]): void {
    this.#attempts.splice(0, ended.length);
  }
}
