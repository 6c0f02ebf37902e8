/** If other servers take part, everything is read again after this time, even if no change was announced. */
const LONGEST_BELIEF_MS = 30_000;
/**
 * After a round that failed, everything is read once more after this time. PostgreSQL may still carry out a commit whose answer nobody heard:
 * it ends a session that waits for it for five seconds.
 */
const LATE_COMMIT_MS = 6000;

/** How long a deliverer believes what it has read of recipients and deliveries. Its times are those of the process's own clock. */
export class Belief {
  readonly #isShared: boolean;
  #readAt = 0;
  /** When everything is read once more because a round failed; infinity if none did. */
  #readAgainAt = Infinity;

  /** @param isShared whether other servers take part. Without them what was read stays true. */
  constructor(isShared: boolean) {
    this.#isShared = isShared;
  }

  /** The time in milliseconds until everything must be read again; infinity if it need not. */
  get leftMs(): number {
    if (!this.#isShared) return Infinity;
    const until = Math.min(this.#readAt + LONGEST_BELIEF_MS, this.#readAgainAt);
    return Math.max(until - performance.now(), 0);
  }

  /** Call after everything was read. */
  renew(): void {
    this.#readAt = performance.now();
    if (this.#readAgainAt <= this.#readAt) this.#readAgainAt = Infinity;
  }

  /** Call after a round that failed, whose commit may still come. */
  doubt(): void {
    this.#readAgainAt = performance.now() + LATE_COMMIT_MS;
  }
}
