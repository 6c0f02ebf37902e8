import { FormsvcError } from "./errors.ts";
import { createFairLines } from "./fair-lines.ts";

export interface SemaphoreLimits {
  /** Works that run at once. */
  readonly maxRunning: number;
  /** The largest number that waits in all lines together; any number without it. */
  readonly maxWaiting?: number;
  /** What one is told that cannot wait. */
  readonly refusal?: string;
}

interface Waiter {
  readonly start: () => void;
  readonly refuse: (error: FormsvcError) => void;
}

/**
 * Bounds the works under way and shares them out: line after line, and when all room to wait is taken, the newest of the
 * longest line gives way to a shorter line. So a long line hardly delays the others.
 */
export class Semaphore {
  readonly #limits: SemaphoreLimits;
  readonly #lines;
  #running = 0;

  constructor(limits: SemaphoreLimits) {
    this.#limits = limits;
    this.#lines = createFairLines<Waiter>(limits.maxWaiting ?? Infinity);
  }

  /** Does the work when its line comes. @param line the line that it waits in. @throws unavailable when too many wait. */
  async run<Result>(work: () => Promise<Result>, line = ""): Promise<Result> {
    // What has ended hands its slot over, so `#running` does not change then.
    if (this.#running >= this.#limits.maxRunning) await this.#wait(line);
    else this.#running += 1;
    try {
      return await work();
    } finally {
      const next = this.#lines.next();
      if (next === undefined) this.#running -= 1;
      else next.start();
    }
  }

  #wait(line: string): Promise<void> {
    return new Promise((start, refuse) => {
      const refused = this.#lines.join(line, { start, refuse });
      refused?.refuse(new FormsvcError("unavailable", this.#limits.refusal, { retryAfterSeconds: 1 }));
    });
  }
}
