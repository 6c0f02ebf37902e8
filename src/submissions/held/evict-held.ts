import { all, first, run, type Steps, text } from "../../database/steps.ts";
import type { Database } from "../../database/database.ts";
import type { HeldPost } from "./held-post.ts";

/** The bounds of a workspace's held posts; null is unlimited. */
export interface HeldBounds {
  readonly posts: number | null;
  /** Bytes of the texts of held posts. */
  readonly bytes: number | null;
}

/** The setting whose bound was exceeded, so that posts were deleted. */
export type HeldBound = "held.maxPerWorkspace" | "heldBytes" | "held.maxBytes" | "origins";

/** The number of held posts that were deleted for lack of room, by the reason they were held for. */
export interface Eviction extends Readonly<Record<HeldPost["why"], number>> {
  readonly workspaceId: string;
  readonly bound: HeldBound;
}

/** The number and the bytes of a workspace's held posts. */
export interface HeldCount {
  readonly posts: number;
  readonly bytes: number;
}

/**
 * The largest number of held posts deleted at once, twice the largest batch. If a bound was lowered, the rest is deleted with later posts.
 */
export const MAX_EVICTED = 1024;

/**
 * Deletes one post: the oldest one held for its origin; else one of the network with the most posts. If several networks have as many,
 * posts with a filled honeypot go first, then the oldest. The parameter is the workspace, twice.
 */
export const EVICT_SQL = `DELETE FROM held WHERE id = coalesce(
  (SELECT id FROM held WHERE workspace_id = ? AND why = 'origin' ORDER BY id LIMIT 1),
  (SELECT first_id FROM held_network WHERE workspace_id = ? ORDER BY posts DESC, first_trapped DESC, first_id LIMIT 1)
) RETURNING why, bytes`;

/**
 * Calls the function of PostgreSQL that evicts posts. Parameters: the workspace, its largest number of posts, its largest number of bytes,
 * the largest number to evict, the time.
 */
export const EVICT_CALL = "SELECT evict_held(?, ?, ?, ?, ?) AS why";

/** The largest number of posts that an endpoint holds for their origin. */
const MAX_HELD_FOR_ORIGIN = 100;

/**
 * Deletes the posts of an endpoint that exceed its bound for posts held for their origin: the oldest posts of the networks with the most of
 * them. Posts held for other reasons stay. The parameter is the endpoint.
 */
export const EVICT_ORIGINS_SQL = `DELETE FROM held WHERE id IN (
  SELECT id FROM (
    SELECT id, count(*) OVER (PARTITION BY network) AS posts FROM held WHERE endpoint_id = ? AND why = 'origin'
  ) AS counted ORDER BY posts, id DESC LIMIT ${MAX_EVICTED} OFFSET ${MAX_HELD_FOR_ORIGIN}
) RETURNING why`;

/** Keeps an endpoint within its bound for posts held for their origin; returns null if nothing had to be deleted. */
export function* evictForOrigin(workspaceId: string, endpointId: string): Steps<Eviction | null> {
  const rows = yield* all(text<{ why: HeldPost["why"] }>(EVICT_ORIGINS_SQL, endpointId));
  return countEvicted(
    workspaceId,
    "origins",
    rows.map(({ why }) => why),
  );
}

/** The bound that is exceeded; null if there is room. */
export function passedBound({ posts, bytes }: HeldCount, most: HeldBounds): HeldBound | null {
  if (most.posts !== null && posts > most.posts) return "held.maxPerWorkspace";
  return most.bytes !== null && bytes > most.bytes ? "heldBytes" : null;
}

/** Counts deleted posts by reason; null if none was deleted. @param whys the reason of each deleted post */
export function countEvicted(
  workspaceId: string,
  bound: HeldBound,
  whys: readonly HeldPost["why"][],
): Eviction | null {
  if (whys.length === 0) return null;
  const counts = { spam: 0, limit: 0, origin: 0 };
  for (const why of whys) counts[why] += 1;
  return { workspaceId, bound, ...counts };
}

/** Deletes held posts of a workspace until it is within its bounds; returns null if nothing had to be deleted. */
export function* evictHeld(workspaceId: string, most: HeldBounds, now: number): Steps<Eviction | null> {
  const known = yield* first(
    text<HeldCount>("SELECT posts, bytes FROM held_total WHERE workspace_id = ?", workspaceId),
  );
  const bound = known === undefined ? null : passedBound(known, most);
  if (known === undefined || bound === null) return null;
  let { posts, bytes } = known;
  const whys: HeldPost["why"][] = [];
  while (passedBound({ posts, bytes }, most) !== null && whys.length < MAX_EVICTED) {
    const gone = yield* first(
      text<{ why: HeldPost["why"]; bytes: number }>(EVICT_SQL, workspaceId, workspaceId),
    );
    if (gone === undefined) break;
    posts -= 1;
    bytes -= gone.bytes;
    whys.push(gone.why);
  }
  yield* run(
    text(
      "UPDATE held_total SET evicted = evicted + ?, evicted_at = ? WHERE workspace_id = ?",
      whys.length,
      now,
      workspaceId,
    ),
  );
  return countEvicted(workspaceId, bound, whys);
}

/** The bytes of all held posts, and what was deleted of one workspace; `eviction` is null if there was room. */
export interface RoomMade {
  readonly bytes: number;
  readonly eviction: Eviction | null;
}

/**
 * If all held posts together exceed the bound, deletes posts of the workspace with the most bytes, until there is room or another workspace
 * has the most. Each transaction is about one workspace only, so that it never deadlocks with a batch.
 */
export function* makeRoom(engine: Database["engine"], maxBytes: number, now: number): Steps<RoomMade> {
  const bytes = yield* sumHeldBytes();
  if (bytes <= maxBytes) return { bytes, eviction: null };
  const [largest, next] = yield* all(
    text<{ workspace_id: string; bytes: number }>(
      "SELECT workspace_id, bytes FROM held_total ORDER BY bytes DESC, workspace_id LIMIT 2",
    ),
  );
  if (largest === undefined) return { bytes, eviction: null };
  // If two workspaces hold as many bytes, at least one post is deleted.
  const most = Math.max(largest.bytes - (bytes - maxBytes), Math.min(next?.bytes ?? 0, largest.bytes - 1));
  const evicted = yield* evictBy[engine](largest.workspace_id, { posts: null, bytes: most }, now);
  return { bytes, eviction: evicted && { ...evicted, bound: "held.maxBytes" } };
}

/** Bytes of all held posts. */
export function* sumHeldBytes(): Steps<number> {
  const row = yield* first(text<{ bytes: number | null }>("SELECT sum(bytes) AS bytes FROM held_total"));
  return row?.bytes ?? 0;
}

export const evictBy: Readonly<Record<Database["engine"], typeof evictHeld>> = {
  sqlite: evictHeld,
  *postgresql(workspaceId, { posts, bytes }, now) {
    const rows = yield* all(
      text<{ why: HeldPost["why"] }>(EVICT_CALL, workspaceId, posts, bytes, MAX_EVICTED, now),
    );
    return countEvicted(
      workspaceId,
      "heldBytes",
      rows.map(({ why }) => why),
    );
  },
};
