import { BoundedMap } from "../foundation/bounded-map.ts";
import { FormsvcError } from "../foundation/errors.ts";

/** Requests of one visitor that are answered at once: an eighth of the server's, as one address has. */
const MAX_UNDER_WAY = 32;
/** Further ones that wait for a slot or for the interval. More are refused at once. */
const MAX_WAITING = 32;
const LONGEST_WAIT_MS = 10_000;
/** A visitor who rested may spend this much at once; after it one request follows the other at this interval. */
const BURST = 60;
const INTERVAL_MS = 100;
/** What a request costs that changes something: its commit waits for the disk, as the posts of all others do. */
export const COST_OF_A_CHANGE = 3;
/** Visitors whose last requests are remembered; beyond this the one that asked for nothing for the longest time is forgotten. */
const MAX_REMEMBERED = 10_000;

interface Visitor {
  underWay: number;
  /** What admits each that waits. */
  readonly line: (() => void)[];
  /** Set while the first of the line waits for the interval alone. */
  timer: NodeJS.Timeout | null;
}

interface Waiting {
  readonly name: string;
  readonly gone: AbortSignal;
  readonly cost: number;
}

/**
 * The dashboard's requests of one account, or of one address at which nobody is signed in: bounded at a time and by time, so that nobody
 * takes the turns of the event loop that belong to all. A person never meets these bounds; a program that asks faster than that is slowed
 * down, and refused only when many of its requests wait. In memory and bounded; a restart forgets all of it.
 */
export class VisitSlots {
  readonly #visitors = new Map<string, Visitor>();
  /** When each visitor will have all of {@link BURST} again. */
  readonly #restedAt = new BoundedMap<string, number>(MAX_REMEMBERED);
  readonly #intervalMs: number;

  /** @param intervalMs 0 bounds at a time only */
  constructor(intervalMs = INTERVAL_MS) {
    this.#intervalMs = intervalMs;
  }

  /**
   * Resolves when the request may be answered. The result gives its slot back, once, however often it is called.
   *
   * @param name of the visitor. @param cost of the request: 1, or {@link COST_OF_A_CHANGE}. @throws rate_limited if too many of the visitor's requests wait, or for too long; the reason of `gone`, which counts only while it waits
   */
  async enter(name: string, gone: AbortSignal, cost = 1): Promise<() => void> {
    const visitor = this.#visitors.get(name) ?? { underWay: 0, line: [], timer: null };
    const isFree = visitor.line.length === 0 && visitor.underWay < MAX_UNDER_WAY && this.#pauseMs(name) === 0;
    if (!isFree) checkMayWait(visitor, gone);
    // Not before: who is refused here would never be forgotten.
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
    // Who asked last is forgotten last.
    this.#restedAt.delete(name);
    this.#restedAt.set(name, restedAt);
  }

  /** How long the visitor's next request waits for the interval. */
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

  /** Admits as many of the line as there are slots and as the interval allows, and forgets who has nothing under way. */
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
