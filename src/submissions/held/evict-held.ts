import { all, first, run, type Steps, text } from "../../database/steps.ts";
import type { Database } from "../../database/database.ts";
import type { HeldPost } from "./held-post.ts";

/** What the held posts of a workspace may take; null is unlimited. */
export interface HeldBounds {
  readonly posts: number | null;
  /** Of their texts. */
  readonly bytes: number | null;
}

/** The setting whose bound made posts go. */
export type HeldBound = "held.maxPerWorkspace" | "heldBytes" | "held.maxBytes" | "origins";

/** Held posts that were deleted for lack of room, by the reason they were held for. */
export interface Eviction extends Readonly<Record<HeldPost["why"], number>> {
  readonly workspaceId: string;
  readonly bound: HeldBound;
}

/** What a workspace's held posts take. */
export interface HeldCount {
  readonly posts: number;
  readonly bytes: number;
}

/** The largest number of held posts deleted at once, twice the largest batch: if a bound was lowered, the rest follows with later posts. */
export const MAX_EVICTED = 1024;

/**
 * One post: the oldest that is held for its origin; else one of the network that has the most. Of several such networks, a post with
 * a filled honeypot goes before others, then the oldest. The parameter is the workspace, twice.
 */
export const EVICT_SQL = `DELETE FROM held WHERE id = coalesce(
  (SELECT id FROM held WHERE workspace_id = ? AND why = 'origin' ORDER BY id LIMIT 1),
  (SELECT first_id FROM held_network WHERE workspace_id = ? ORDER BY posts DESC, first_trapped DESC, first_id LIMIT 1)
) RETURNING why, bytes`;

/** PostgreSQL does all in one function. Parameters: the workspace, most posts, most bytes, most evicted, the time. */
export const EVICT_CALL = "SELECT evict_held(?, ?, ?, ?, ?) AS why";

/** The largest number of posts that an endpoint holds for their origin. */
const MAX_HELD_FOR_ORIGIN = 100;

/**
 * Posts that are too many of those held for their origin: of the networks with most of them, the oldest. They push out only their own
 * kind. The parameter is the endpoint.
 */
export const EVICT_ORIGINS_SQL = `DELETE FROM held WHERE id IN (
  SELECT id FROM (
    SELECT id, count(*) OVER (PARTITION BY network) AS posts FROM held WHERE endpoint_id = ? AND why = 'origin'
  ) AS counted ORDER BY posts, id DESC LIMIT ${MAX_EVICTED} OFFSET ${MAX_HELD_FOR_ORIGIN}
) RETURNING why`;

/** Keeps an endpoint within its bound of posts that are held for their origin; null if there is room. */
export function* evictForOrigin(workspaceId: string, endpointId: string): Steps<Eviction | null> {
  const rows = yield* all(text<{ why: HeldPost["why"] }>(EVICT_ORIGINS_SQL, endpointId));
  return countEvicted(
    workspaceId,
    "origins",
    rows.map(({ why }) => why),
  );
}

/** The bound that is passed; null if there is room. */
export function passedBound({ posts, bytes }: HeldCount, most: HeldBounds): HeldBound | null {
  if (most.posts !== null && posts > most.posts) return "held.maxPerWorkspace";
  return most.bytes !== null && bytes > most.bytes ? "heldBytes" : null;
}

/** @param whys why each of them was held. */
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

/** Deletes posts of a workspace until it keeps its bounds; null if there is room. */
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

/** What is held in all, and what had to go of one workspace; null if there was room. */
export interface RoomMade {
  readonly bytes: number;
  readonly eviction: Eviction | null;
}

/**
 * If all held posts together take more bytes, those of the workspace with the most go, until there is room or another workspace has
 * the most. One workspace in a transaction: so it waits for no batch that waits for it.
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
  // Of two with the same, one post goes.
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
