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

interface Waiting {
  posts: number;
  lastAt: number;
  readonly isIgnored: boolean;
}

export function createOriginRefusals(parts: OriginRefusalParts): OriginRefusals {
  const { db, clock, limiter, onRefusals, onFailure } = parts;
  let waiting = new Map<string, Map<string, Waiting>>();
  let timer: NodeJS.Timeout | null = null;
  let writing: Promise<void> = Promise.resolve();

  const isHoldable = ({ ready }: Caller, origin: string): boolean =>
    isRecordable(origin) && !ready.ignoredOrigins.has(origin);
  const unitOf = ({ ready }: Caller): string => `origins ${ready.endpoint.id}`;

  const write = async (): Promise<void> => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    const counted = waiting;
    waiting = new Map();
    const refusals = [...counted].flatMap(([endpointId, origins]) =>
      [...origins].map(([origin, { posts, lastAt, isIgnored }]) => ({
        endpointId,
        origin,
        posts,
        lastAt,
        isIgnored,
      })),
    );
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
      const { id } = ready.endpoint;
      let origins = waiting.get(id);
      if (origins === undefined) {
        if (waiting.size >= MAX_ENDPOINTS) return;
        waiting.set(id, (origins = new Map()));
      }
      const known = origins.get(origin);
      if (known !== undefined) {
        known.posts += 1;
        known.lastAt = clock.now();
      } else if (origins.size < MAX_REFUSED_ORIGINS) {
        origins.set(origin, { posts: 1, lastAt: clock.now(), isIgnored: ready.ignoredOrigins.has(origin) });
      }
      timer ??= setTimeout(() => void writeNext(), WRITE_AFTER_MS).unref();
    },
    settle: writeNext,
  };
}
