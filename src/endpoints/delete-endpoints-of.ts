import { query } from "../database/database.ts";
import { first, run, type Steps } from "../database/steps.ts";
import { raiseSettingsVersion } from "../database/settings-version.ts";
import { endKeysOf } from "../keys/key-store.ts";
import type { EndpointContents } from "./endpoint-contents.ts";

/**
 * Makes every post to a workspace's endpoints be refused as if they did not exist: their keys end, and their own pages close. Returns the
 * number of changed rows.
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
  if (ended + paused > 0) yield* raiseSettingsVersion("everything");
  return ended + paused;
}

/**
 * Returns a step that deletes a batch of the contents of the workspace's oldest endpoint, or the endpoint if it has none left. It returns
 * the number of rows.
 */
export function deleteEndpointsOf({ deletions }: EndpointContents) {
  return function* (workspaceId: string, limit: number): Steps<number> {
    const rows = query.selectFrom("endpoint").select("id").where("workspace_id", "=", workspaceId);
    const endpoint = yield* first(rows.orderBy("id").limit(1));
    if (endpoint === undefined) return 0;
    for (const deleteBatch of deletions) {
      const deleted = yield* deleteBatch(endpoint.id, limit);
      if (deleted > 0) return deleted;
    }
    yield* run(query.deleteFrom("endpoint").where("id", "=", endpoint.id));
    yield* raiseSettingsVersion(endpoint.id);
    return 1;
  };
}
