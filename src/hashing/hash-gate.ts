import { FormsvcError } from "../foundation/errors.ts";

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
  /** The line whose turn is next comes first; none is empty. */
  const lines = new Map<string, Waiter[]>();
  let running = 0;
  let waiting = 0;

  const wait = (name: string): Promise<void> => {
    const line = lines.get(name) ?? [];
    if (waiting >= maxWaiting) makeRoom(lines, line.length, refusal);
    else waiting += 1;
    return new Promise((start, refuse) => {
      line.push({ start, refuse });
      lines.set(name, line);
    });
  };
  const takeNext = (): Waiter | undefined => {
    for (const [name, line] of lines) {
      const next = line.shift();
      lines.delete(name);
      if (line.length > 0) lines.set(name, line);
      waiting -= 1;
      return next;
    }
    return undefined;
  };
  return {
    async enter(name, work) {
      // A finished caller hands its place over, so `running` does not change then.
      if (running >= maxRunning) await wait(name);
      else running += 1;
      try {
        return await work();
      } finally {
        const next = takeNext();
        if (next === undefined) running -= 1;
        else next.start();
      }
    },
  };
}

/** Refuses the newest of the longest line. @throws unavailable when no line is longer than the newcomer's would be. */
function makeRoom(lines: ReadonlyMap<string, Waiter[]>, newcomers: number, refusal: string): void {
  let longest: Waiter[] = [];
  for (const line of lines.values()) if (line.length > longest.length) longest = line;
  if (longest.length <= newcomers + 1) throw tooManyWaiting(refusal);
  longest.pop()?.refuse(tooManyWaiting(refusal));
}

function tooManyWaiting(refusal: string): FormsvcError {
  return new FormsvcError("unavailable", refusal, { retryAfterSeconds: 1 });
}
