import type { Database } from "../../database/database.ts";
import { SingleFlight } from "../../foundation/single-flight.ts";
import type { Clock } from "../../foundation/clock.ts";
import type { Committed } from "./batch.ts";
import { type Eviction, makeRoom } from "../held/evict-held.ts";

/** Keeps all held posts together within a bound of bytes. */
export interface HeldRoom {
  /** Called for each commit. Passes on what the batch evicted. If there is no room any more, posts of the workspace with the most bytes go at once. */
  readonly note: (committed: Committed) => void;
  /** Resolves when nothing is under way. */
  settle(): Promise<void>;
}

export interface HeldRoomParts {
  readonly db: Pick<Database, "engine" | "relaxedTransaction">;
  readonly clock: Clock;
  /** Bytes that all held posts may take, while they take this number; null is unlimited. */
  readonly maxBytes: (heldBytes: number) => number | null;
  readonly onEviction: (eviction: Eviction) => void;
  readonly onFailure: (error: unknown) => void;
}

/** Other servers hold posts too, and commands delete some. */
const LONGEST_UNREAD_MS = 1000;

/** A tenth of what is free while nothing is held. */
const SHARE_OF_FREE = 10;
/** If the disk cannot be seen, as a database server's. */
const UNSEEN_DISK_BYTES = 10_737_418_240;

/**
 * @param configured `held.maxBytes`; null is a tenth of the free disk. Deleting what is held must not change the bound, so that counts as free.
 * @param freeBytes null if the disk cannot be seen.
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

/** What is held is summed once a second at most, unless what came since would not fit. */
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
