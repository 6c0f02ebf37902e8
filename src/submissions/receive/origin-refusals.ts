import type { Database } from "../../database/database.ts";
import {
  addRefusals,
  isRecordable,
  MAX_REFUSED_ORIGINS,
  type RefusedPosts,
} from "../../endpoints/refused-origins.ts";
import type { Clock } from "../../foundation/clock.ts";
import type { RateLimiter } from "../../foundation/rate-limit.ts";
import type { Caller } from "./authenticate.ts";

/**
 * Handles posts of pages whose origin is not allowed. Strangers can cause any number of them. So there are bounds for the posts of a form
 * that are read to be held, and for the counts that wait in memory.
 */
export interface OriginRefusals {
  /** Whether the body of such a post should be read, so that the post can be held. */
  mayHold(caller: Caller, origin: string): boolean;
  /** Like `mayHold`, and counts the post against the bound. */
  takeSlot(caller: Caller, origin: string): boolean;
  /** Counts a refused post. */
  note(caller: Caller, origin: string): void;
  /** Resolves when all counts are written. */
  settle(): Promise<void>;
}

export interface OriginRefusalParts {
  readonly db: Pick<Database, "transaction">;
  readonly clock: Clock;
  readonly limiter: Pick<RateLimiter, "look" | "count">;
  /** Called for each endpoint and origin with the number of posts refused since the last write. */
  readonly onRefusals: (refusals: RefusedPosts) => void;
  readonly onFailure: (error: unknown) => void;
}

/**
 * The number of posts of one form, from all pages that are not allowed, that are read to be held. Others are refused without reading their
 * bodies.
 */
const HELD_PER_MINUTE = { max: 30, windowSeconds: 60 };
/** Time for which counts wait in memory before they are written; a crash loses them. */
const WRITE_AFTER_MS = 2000;
/** The largest number of endpoints with counts that wait. */
const MAX_ENDPOINTS = 1000;

interface Waiting extends RefusedPosts {
  posts: number;
  lastAt: number;
  /** Whether the owner of the form ignores the origin. */
  readonly isIgnored: boolean;
}

/** Counts that are not written yet, by endpoint and origin. Beyond the bounds, posts are not counted. */
class WaitingCounts {
  #byEndpoint = new Map<string, Map<string, Waiting>>();

  add({ endpoint: { id: endpointId }, ignoredOrigins }: Caller["ready"], origin: string, now: number): void {
    let origins = this.#byEndpoint.get(endpointId);
    if (origins === undefined) {
      if (this.#byEndpoint.size >= MAX_ENDPOINTS) return;
      this.#byEndpoint.set(endpointId, (origins = new Map()));
    }
    const known = origins.get(origin);
    if (known !== undefined) {
      known.posts += 1;
      known.lastAt = now;
    } else if (origins.size < MAX_REFUSED_ORIGINS) {
      const isIgnored = ignoredOrigins.has(origin);
      origins.set(origin, { endpointId, origin, posts: 1, lastAt: now, isIgnored });
    }
  }

  /** Returns the counts and forgets them. */
  take(): readonly Waiting[] {
    const counts: Waiting[] = [];
    for (const origins of this.#byEndpoint.values()) counts.push(...origins.values());
    this.#byEndpoint = new Map();
    return counts;
  }
}

export function createOriginRefusals(parts: OriginRefusalParts): OriginRefusals {
  const { db, clock, limiter, onRefusals, onFailure } = parts;
  const waiting = new WaitingCounts();
  let timer: NodeJS.Timeout | null = null;
  let writing: Promise<void> = Promise.resolve();

  const isHoldable = ({ ready }: Caller, origin: string): boolean =>
    isRecordable(origin) && !ready.ignoredOrigins.has(origin);
  const unitOf = ({ ready }: Caller): string => `origins ${ready.endpoint.id}`;

  const write = async (): Promise<void> => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    const refusals = waiting.take();
    if (refusals.length === 0) return;
    await db.transaction(() => addRefusals(refusals));
    for (const refusal of refusals) if (!refusal.isIgnored) onRefusals(refusal);
  };
  const writeNext = (): Promise<void> => (writing = writing.then(write).catch(onFailure));

  return {
    mayHold(caller, origin) {
      if (!isHoldable(caller, origin)) return false;
      return limiter.look(unitOf(caller), HELD_PER_MINUTE)?.allowed !== false;
    },
    takeSlot(caller, origin) {
      if (!isHoldable(caller, origin)) return false;
      return limiter.count(unitOf(caller), HELD_PER_MINUTE)?.allowed !== false;
    },
    note({ ready }, origin) {
      if (!isRecordable(origin)) return;
      waiting.add(ready, origin, clock.now());
      timer ??= setTimeout(() => void writeNext(), WRITE_AFTER_MS).unref();
    },
    settle: writeNext,
  };
}
