import type { Clock } from "../foundation/clock.ts";
import {
  dropExpired,
  dropHeld,
  getHeld,
  type HeldFilter,
  type HeldPage,
  type HeldPost,
  listHeld,
} from "./held-post.ts";
import { releaseHeld, type ReleaseParts } from "./release-held.ts";
import type { Submission } from "./submission.ts";

/** Work with held posts. Expired posts are deleted first, whether a server runs or not. */
export interface HeldPosts {
  /** @throws invalid_request on a cursor that no page returned. */
  list(filter: HeldFilter, limit: number, cursor: string | null): Promise<HeldPage>;
  /** @throws not_found */
  get(id: string): Promise<HeldPost>;
  /** @throws not_found; plan_limit if the month is full. */
  release(id: string): Promise<Submission>;
  /** Drops all of them or none. @throws not_found naming the first that does not exist. */
  drop(ids: readonly string[]): Promise<void>;
}

export interface HeldParts extends ReleaseParts {
  /** Days that a post is held; null is for ever. */
  readonly days: number | null;
  readonly clock: Clock;
}

export function openHeldPosts(parts: HeldParts): HeldPosts {
  const { db, days, clock } = parts;
  const dropOld = async (): Promise<void> => {
    while ((await db.transaction(() => dropExpired(days, clock.now()))) > 0);
  };
  return {
    async list(filter, limit, cursor) {
      await dropOld();
      return db.read(() => listHeld(filter, limit, cursor));
    },
    async get(id) {
      await dropOld();
      return db.read(() => getHeld(id));
    },
    async release(id) {
      await dropOld();
      return releaseHeld(parts, id, clock.now());
    },
    async drop(ids) {
      await dropOld();
      await db.transaction(() => dropHeld(ids));
    },
  };
}
