import type { Database } from "../../database/database.ts";
import { SingleFlight } from "../../foundation/single-flight.ts";
import type { Clock } from "../../foundation/clock.ts";
import type { Committed } from "./batch.ts";
import { type Eviction, makeRoom } from "../held/evict-held.ts";

/** Keeps the total size of all held posts within a bound, in bytes. */
export interface HeldRoom {
  /**
   * Called after each commit. Reports the held posts that the batch evicted. If all held posts together exceed the bound, deletes posts of
   * the workspace that holds the most bytes.
   */
  readonly note: (committed: Committed) => void;
  /** Resolves when no deletion is under way. */
  settle(): Promise<void>;
}

export interface HeldRoomParts {
  readonly db: Pick<Database, "engine" | "relaxedTransaction">;
  readonly clock: Clock;
  /** Returns the largest number of bytes that all held posts may take; null is unlimited. @param heldBytes the bytes that they take now. */
  readonly maxBytes: (heldBytes: number) => number | null;
  readonly onEviction: (eviction: Eviction) => void;
  readonly onFailure: (error: unknown) => void;
}

/** After this time the total is read again, because other servers hold posts too, and commands delete some. */
const LONGEST_UNREAD_MS = 1000;

/** Held posts may take a tenth of the space that is free while nothing is held. */
const SHARE_OF_FREE = 10;
/** The bound if the free space is unknown, as on the disk of a database server. */
const UNSEEN_DISK_BYTES = 10_737_418_240;

/**
 * @param configured the setting `held.maxBytes`; null means a tenth of the free disk. The bytes of held posts count as free, so that
 * deleting some does not change the bound.
 * @param freeBytes returns null if the free space is unknown.
 */
export function heldByteLimit(
  configured: number | null,
  freeBytes: () => number | null,
): HeldRoomParts["maxBytes"] {
  if (configured !== null) return () => configured;
  return (heldBytes) => {
    const free = freeBytes();
    return free === null ? UNSEEN_DISK_BYTES : Math.floor((free + heldBytes) / SHARE_OF_FREE);
  };
}

/** Sums the bytes of all held posts at most once a second, unless the posts held since then exceed the bound. */
export function createHeldRoom({ db, clock, maxBytes, onEviction, onFailure }: HeldRoomParts): HeldRoom {
  let known = 0;
  let readAt = Number.NEGATIVE_INFINITY;
  const looking = new SingleFlight();

  const look = async (): Promise<void> => {
    for (;;) {
      const max = maxBytes(known);
      if (max === null) return;
      const { bytes, eviction } = await db.relaxedTransaction(() => makeRoom(db.engine, max, clock.now()));
      known = bytes;
      readAt = performance.now();
      if (eviction === null) return;
      onEviction(eviction);
    }
  };
  return {
    note({ batch, outcomes, evictions }) {
      evictions.forEach(onEviction);
      let added = 0;
      for (const [index, pending] of batch.entries())
        if (pending.kind === "held" && outcomes[index] === "stored") added += pending.bytes;
      if (added === 0) return;
      known += added;
      const isFresh = performance.now() - readAt < LONGEST_UNREAD_MS;
      const max = isFresh ? maxBytes(known) : 0;
      if (max === null || known <= max) return;
      void looking.run(() => look().catch(onFailure));
    },
    settle: () => looking.settle(),
  };
}
