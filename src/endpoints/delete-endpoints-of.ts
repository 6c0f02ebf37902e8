import { query } from "../database/database.ts";
import { first, run, type Steps } from "../database/steps.ts";
import { raiseSettingsVersion } from "../database/settings-version.ts";
import { endKeysOf } from "../keys/key-store.ts";
import type { DeleteContents } from "./delete-endpoint.ts";

/**
 * Refuses every post to a workspace's endpoints as if they were gone already: their keys end, and their pages close. Returns how many rows
 * it changed.
 */
export function* closeEndpointsOf(workspaceId: string, _limit: number, now: number): Steps<number> {
  const ended = yield* endKeysOf(
    query.selectFrom("endpoint").select("id").where("workspace_id", "=", workspaceId).$asScalar(),
    now,
  );
  const paused = yield* run(
    query
      .updateTable("endpoint")
      .set({ state: "paused" })
      .where("workspace_id", "=", workspaceId)
      .where("state", "=", "active"),
  );
  if (ended + paused > 0) yield* raiseSettingsVersion();
  return ended + paused;
}

/** Takes a batch of the oldest endpoint's contents away, or the endpoint when it has none left. Returns the number of rows. */
export function deleteEndpointsOf(contents: readonly DeleteContents[]) {
  return function* (workspaceId: string, limit: number): Steps<number> {
    const rows = query.selectFrom("endpoint").select("id").where("workspace_id", "=", workspaceId);
    const endpoint = yield* first(rows.orderBy("id").limit(1));
    if (endpoint === undefined) return 0;
    for (const deleteBatch of contents) {
      const deleted = yield* deleteBatch(endpoint.id, limit);
      if (deleted > 0) return deleted;
    }
    yield* run(query.deleteFrom("endpoint").where("id", "=", endpoint.id));
    yield* raiseSettingsVersion();
    return 1;
  };
}
