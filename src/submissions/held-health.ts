import { sql } from "kysely";
import { query } from "../database/database.ts";
import { all, first, type Steps } from "../database/steps.ts";
import { toIsoTime } from "../foundation/clock.ts";
import { type Finding, problem, sound } from "../foundation/finding.ts";

/** Share of `held.maxPerWorkspace` at which an owner should make room. */
const CLOSE_TO_FULL = 0.8;

/**
 * One finding for each workspace whose held posts come near the limit; a single sound one if none do.
 *
 * @param maxPerWorkspace null is unlimited.
 */
export function* checkHeldPostRoom(maxPerWorkspace: number | null): Steps<Finding[]> {
  const least = maxPerWorkspace === null ? null : Math.ceil(maxPerWorkspace * CLOSE_TO_FULL);
  const full =
    least === null
      ? []
      : yield* all(
          query.selectFrom("held_total").selectAll().where("posts", ">=", least).orderBy("workspace_id"),
        );
  if (full.length === 0) return [sound("held.room", "there is room for posts that are refused")];
  return full.map(({ workspace_id, posts, evicted, evicted_at }) => {
    const gone =
      evicted_at === null ? "" : `; ${evicted} had to go so far, the last at ${toIsoTime(evicted_at)}`;
    return problem("held.room", `${workspace_id} holds ${posts} refused posts of ${maxPerWorkspace}${gone}`, {
      kind: "make_room_for_held_posts",
    });
  });
}

/** Held posts of these workspaces together. */
export function* countHeldPosts(workspaceIds: readonly string[]): Steps<number> {
  const ids = sql<string>`(SELECT value FROM json_each(${JSON.stringify(workspaceIds)}))`;
  const counted = yield* first(
    query
      .selectFrom("held_total")
      .select(({ fn }) => fn.sum<number | null>("posts").as("posts"))
      .where("workspace_id", "in", ids),
  );
  return counted?.posts ?? 0;
}
