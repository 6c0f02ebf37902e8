/** The longest sleep while deliveries are planned, so that a suspended machine or a changed clock does no lasting harm. */
const LONGEST_SLEEP_MS = 30_000;
/** The pause between two rounds while posts need the processor. */
const RUSH_REST_MS = 100;

/** Plans when the next round takes place. At most one round is planned, and at most one is under way. */
export class RoundPlan {
  readonly #round: () => Promise<void>;
  readonly #hasRush: () => boolean;
  #next: "none" | "later" | "soon" | "never" = "none";
  #isUnderWay = false;
  #timer: NodeJS.Timeout | undefined;

  /** @param round runs one round, and never rejects. @param hasRush whether posts need the processor more. */
  constructor(round: () => Promise<void>, hasRush: () => boolean) {
    this.#round = round;
    this.#hasRush = hasRush;
  }

  get isSoon(): boolean {
    return this.#next === "soon";
  }

  soon(): void {
    if (this.#next === "soon" || this.#next === "never") return;
    this.#next = "soon";
    clearTimeout(this.#timer);
    if (!this.#isUnderWay) this.#schedule();
  }

  /** Plans a round for later, unless one is already planned. */
  later(waitMs: number): void {
    if (this.#next !== "none") return;
    this.#next = "later";
    const sleepMs = Math.min(Math.max(waitMs, 1), LONGEST_SLEEP_MS);
    this.#timer = setTimeout(() => this.soon(), sleepMs);
  }

  /** Ends the plan: no round begins from now on. */
  close(): void {
    this.#next = "never";
    clearTimeout(this.#timer);
  }

  #schedule(): void {
    if (this.#hasRush()) this.#timer = setTimeout(() => void this.#begin(), RUSH_REST_MS);
    // Two turns of the event loop: the second collects the answers that came during the first.
    else setImmediate(() => setImmediate(() => void this.#begin()));
  }

  async #begin(): Promise<void> {
    if (this.#next === "never") return;
    this.#next = "none";
    this.#isUnderWay = true;
    await this.#round();
    this.#isUnderWay = false;
    if (this.isSoon) this.#schedule();
  }
}
