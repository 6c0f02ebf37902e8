import { FormsvcError } from "./errors.ts";
import { createFairLines } from "./fair-lines.ts";

export interface SemaphoreLimits {
  /** The largest number of works that run at once. */
  readonly maxRunning: number;
  /** The largest number of works that wait in all lines together; without it there is no limit. */
  readonly maxWaiting?: number;
  /** The error message for work that cannot wait because all room is taken. */
  readonly refusal?: string;
}

interface Waiter {
  readonly start: () => void;
  readonly refuse: (error: FormsvcError) => void;
}

/**
 * Bounds the number of works under way, and serves the waiting lines in turn. When all room to wait is taken, the newest of the longest
 * line is refused in favour of a shorter line. So a long line hardly delays the others.
 */
export class Semaphore {
  readonly #limits: SemaphoreLimits;
  readonly #lines;
  #running = 0;

  constructor(limits: SemaphoreLimits) {
    this.#limits = limits;
    this.#lines = createFairLines<Waiter>(limits.maxWaiting ?? Infinity);
  }

  /** Runs the work when there is a slot for it. @param line the name of the line that it waits in. @throws unavailable if too many wait. */
  async run<Result>(work: () => Promise<Result>, line = ""): Promise<Result> {
    // Work that ends hands its slot to the next waiter, so `#running` does not change then.
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
