import { FormsvcError } from "../foundation/errors.ts";
import { createFairLines } from "../foundation/fair-lines.ts";

/** A gate before the hashes: callers wait here for their turn. */
export interface HashGate {
  /** Does the work when its turn comes. @param line the line it waits in. @throws unavailable when too many wait. */
  enter<Result>(line: string, work: () => Promise<Result>): Promise<Result>;
}

export interface HashGateLimits {
  /** Hashes computed at once. */
  readonly maxRunning: number;
  /** Most that wait in all lines together. */
  readonly maxWaiting: number;
  /** What one is told that cannot wait. */
  readonly refusal: string;
}

interface Waiter {
  readonly start: () => void;
  readonly refuse: (error: FormsvcError) => void;
}

/**
 * Bounds the hashes under way and shares them out: the lines take turns, and when all places are taken, the newest caller of
 * the longest line gives way to a shorter line. So a long line hardly delays the others.
 */
export function createHashGate({ maxRunning, maxWaiting, refusal }: HashGateLimits): HashGate {
  const lines = createFairLines<Waiter>(maxWaiting);
  let running = 0;

  const wait = (line: string): Promise<void> =>
    new Promise((start, refuse) => {
      lines.join(line, { start, refuse })?.refuse(tooManyWaiting(refusal));
    });
  return {
    async enter(line, work) {
      // A finished caller hands its place over, so `running` does not change then.
      if (running >= maxRunning) await wait(line);
      else running += 1;
      try {
        return await work();
      } finally {
        const next = lines.next();
        if (next === undefined) running -= 1;
        else next.start();
      }
    },
  };
}

function tooManyWaiting(refusal: string): FormsvcError {
  return new FormsvcError("unavailable", refusal, { retryAfterSeconds: 1 });
}
