import { BoundedMap } from "../foundation/bounded-map.ts";
import { FormsvcError } from "../foundation/errors.ts";

/**
 * The largest number of requests of one visitor that are answered at once: an eighth of the server's limit, which is the share of one
 * address.
 */
const MAX_UNDER_WAY = 32;
/** The largest number of further requests that wait for a slot or for the interval. More are refused at once. */
const MAX_WAITING = 32;
const LONGEST_WAIT_MS = 10_000;
/** The number of requests that a rested visitor may send at once. After that, one request follows the other at this interval. */
const BURST = 60;
const INTERVAL_MS = 100;
/** The cost of a request that changes something. Its commit waits for the disk, as everybody's posts do. */
export const COST_OF_A_CHANGE = 3;
/**
 * The largest number of visitors whose last requests are remembered. A further one drops the visitor who has been silent for the longest
 * time.
 */
const MAX_REMEMBERED = 10_000;

interface Visitor {
  underWay: number;
  /** Functions that admit the waiting requests. */
  readonly line: (() => void)[];
  /** Set while the first of the line waits only for the interval. */
  timer: NodeJS.Timeout | null;
}

interface Waiting {
  readonly name: string;
  readonly gone: AbortSignal;
  readonly cost: number;
}

/**
 * Bounds the dashboard's requests of one account, or of one address without a session: how many run at once, and how fast they follow. So
 * nobody takes the turns of the event loop that belong to all. A person never reaches these limits. A program that asks faster is slowed
 * down, and refused only if many of its requests wait. All is kept in memory and bounded; a restart forgets it.
 */
export class VisitSlots {
  readonly #visitors = new Map<string, Visitor>();
  /** When each visitor will have all of {@link BURST} again. */
  readonly #restedAt = new BoundedMap<string, number>(MAX_REMEMBERED);
  readonly #intervalMs: number;

  /** @param intervalMs 0 means that only the number at once is limited */
  constructor(intervalMs = INTERVAL_MS) {
    this.#intervalMs = intervalMs;
  }

  /**
   * Resolves when the request may be answered. Call the result to release the slot; further calls do nothing.
   *
   * @param name the visitor's name
   * @param cost 1, or {@link COST_OF_A_CHANGE}
   * @throws rate_limited if too many of the visitor's requests wait, or this one waits too long; the reason of `gone` if it is aborted
   * during the wait
   */
  async enter(name: string, gone: AbortSignal, cost = 1): Promise<() => void> {
    const visitor = this.#visitors.get(name) ?? { underWay: 0, line: [], timer: null };
    const isFree = visitor.line.length === 0 && visitor.underWay < MAX_UNDER_WAY && this.#pauseMs(name) === 0;
    if (!isFree) checkMayWait(visitor, gone);
    // Not stored earlier, because a visitor who is refused here would never be removed.
    this.#visitors.set(name, visitor);
    if (isFree) this.#start(name, visitor, cost);
    else await this.#wait({ name, gone, cost }, visitor);
    let isInside = true;
    return () => {
      if (!isInside) return;
      isInside = false;
      visitor.underWay -= 1;
      this.#goOn(name, visitor);
    };
  }

  #start(name: string, visitor: Visitor, cost: number): void {
    visitor.underWay += 1;
    const restedAt = Math.max(this.#restedAt.get(name) ?? 0, performance.now()) + cost * this.#intervalMs;
    // The entry is added again at the end, so that the visitor who asked last is dropped last.
    this.#restedAt.delete(name);
    this.#restedAt.set(name, restedAt);
  }

  /** How long the visitor's next request waits for the interval, in milliseconds. */
  #pauseMs(name: string): number {
    const restedAt = this.#restedAt.get(name) ?? 0;
    return Math.max(0, restedAt - (BURST - 1) * this.#intervalMs - performance.now());
  }

  #wait({ name, gone, cost }: Waiting, visitor: Visitor): Promise<void> {
    const { line } = visitor;
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(limit);
        gone.removeEventListener("abort", giveUp);
        line.splice(line.indexOf(admit), 1);
      };
      const refuse = (reason: unknown): void => {
        leave();
        reject(reason);
        this.#goOn(name, visitor);
      };
      const giveUp = (): void => refuse(gone.reason);
      const admit = (): void => {
        leave();
        this.#start(name, visitor, cost);
        resolve();
      };
      const limit = setTimeout(() => refuse(tooMany()), LONGEST_WAIT_MS);
      gone.addEventListener("abort", giveUp);
      line.push(admit);
      this.#goOn(name, visitor);
    });
  }

  /** Admits as many waiting requests as slots and interval allow, and removes a visitor who has no request under way. */
  #goOn(name: string, visitor: Visitor): void {
    const { line } = visitor;
    while (line.length > 0 && visitor.underWay < MAX_UNDER_WAY) {
      const pauseMs = this.#pauseMs(name);
      if (pauseMs > 0) return this.#planNext(name, visitor, pauseMs);
      line[0]?.();
    }
    if (line.length > 0 || visitor.underWay > 0) return;
    if (visitor.timer !== null) clearTimeout(visitor.timer);
    this.#visitors.delete(name);
  }

  #planNext(name: string, visitor: Visitor, pauseMs: number): void {
    visitor.timer ??= setTimeout(() => {
      visitor.timer = null;
      this.#goOn(name, visitor);
    }, pauseMs);
  }
}

/** @throws rate_limited; the reason of `gone` */
function checkMayWait({ line }: Visitor, gone: AbortSignal): void {
  gone.throwIfAborted();
  if (line.length >= MAX_WAITING) throw tooMany();
}

function tooMany(): FormsvcError {
  return new FormsvcError(
    "rate_limited",
    "Too many pages were asked for at once with your account, or from your address; nothing was changed. Wait some seconds, and try again.",
    { retryAfterSeconds: 5 },
  );
}
