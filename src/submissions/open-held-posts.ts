import type { Clock } from "../foundation/clock.ts";
import { discardHeldPostRange, discardHeldPosts } from "./administer-submissions.ts";
import {
  dropExpired,
  getHeldPost,
  type HeldPostFilter,
  type HeldPostPage,
  type HeldPost,
  listHeldPosts,
} from "./held-post.ts";
import { releaseHeldPost, type ReleaseParts } from "./release-held.ts";
import type { Submission } from "./submission.ts";

/** Work with held posts. Expired posts are deleted first, whether a server runs or not. */
export interface HeldPosts {
  /** @throws invalid_request on a cursor that no page returned. */
  list(filter: HeldPostFilter, limit: number, cursor: string | null): Promise<HeldPostPage>;
  /** @throws not_found */
  get(id: string): Promise<HeldPost>;
  /** @throws not_found; plan_limit if the month is full. */
  release(id: string): Promise<Submission>;
  /** Drops all of them or none. @throws not_found naming the first that does not exist. */
  drop(ids: readonly string[]): Promise<void>;
  /** Drops those that are held now. Returns how many. @param endpointId null is every endpoint. */
  dropAll(endpointId: string | null): Promise<number>;
}

export interface HeldPostParts extends ReleaseParts {
  /** Days that a post is held; null is for ever. */
  readonly days: number | null;
  readonly clock: Clock;
}

export function openHeldPosts(parts: HeldPostParts): HeldPosts {
  const { db, days, clock, actor } = parts;
  const dropOld = async (): Promise<void> => {
    while ((await db.transaction(() => dropExpired(days, clock.now()))) > 0);
  };
  return {
    async list(filter, limit, cursor) {
      await dropOld();
      return db.read(() => listHeldPosts(filter, limit, cursor));
    },
    async get(id) {
      await dropOld();
      return db.read(() => getHeldPost(id));
    },
    async release(id) {
      await dropOld();
      return releaseHeldPost(parts, id, clock.now());
    },
    async drop(ids) {
      await dropOld();
      await db.transaction(() => discardHeldPosts(actor, ids, clock.now()));
    },
    async dropAll(endpointId) {
      await dropOld();
      const endpointIds = endpointId === null ? null : [endpointId];
      const filter = { endpointIds, since: null, until: null };
      // Durable: that nothing is held may be known of the primary alone.
      const [newest] = (await db.transaction(() => listHeldPosts(filter, 1, null))).data;
      if (newest === undefined) return 0;
      const range = { endpointIds, newestId: newest.id, subject: endpointId ?? "all" };
      return discardHeldPostRange(db, actor, range, clock.now());
    },
  };
}
