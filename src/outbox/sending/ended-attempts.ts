import { withoutBodies } from "./claimed-delivery.ts";
import type { EndedAttempt } from "./transport.ts";

/** They are recorded when there are this many, while others are still running. */
const MANY = 64;
/** A round over a network costs the database more, and is worth more of them. */
const MANY_OVER_NETWORK = 128;

/** Attempts that ended and are not recorded yet; their rows stay claimed, so nothing is sent twice. */
export class EndedAttempts {
  readonly #attempts: EndedAttempt[] = [];
  /** How many of them no round has tried to record yet. */
  #newly = 0;
  readonly #many: number;

  /** @param isShared whether other servers take part. */
  constructor(isShared: boolean) {
    this.#many = isShared ? MANY_OVER_NETWORK : MANY;
  }

  get isEmpty(): boolean {
    return this.#attempts.length === 0;
  }

  /** Whether a round is worth it that records them. */
  get areMany(): boolean {
    return this.#newly >= this.#many;
  }

  add(ended: EndedAttempt): void {
    this.#attempts.push({ ...ended, delivery: withoutBodies(ended.delivery) });
    this.#newly += 1;
  }

  /** What a round tries to record. All of it stays until it is on record. */
  take(): readonly EndedAttempt[] {
    this.#newly = 0;
    return [...this.#attempts];
  }

  /** These are on record: what {@link EndedAttempts.take} returned last. */
  recorded(ended: readonly EndedAttempt[]): void {
    this.#attempts.splice(0, ended.length);
  }
}
