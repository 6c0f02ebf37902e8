import type { AnyDatabase } from "../database/any-database.ts";
import { type PlacedEndpoint, readEndpointNames } from "../endpoints/viewable-endpoints.ts";
import { listWorkspaces } from "../workspaces/workspace-store.ts";

/**
 * How lists name these endpoints: by the name, and if the database has several workspaces, as `WORKSPACE/NAME`, which commands take
 * as a reference.
 */
export function labelEndpoints(
  db: AnyDatabase,
  ids: readonly string[],
): Promise<(endpointId: string) => string> {
  return Promise.resolve(
    db.read(function* () {
      const names = yield* readEndpointNames([...new Set(ids)]);
      const hasSeveral = (yield* listWorkspaces()).length > 1;
      return (endpointId: string): string => {
        const endpoint = names.get(endpointId);
        if (endpoint === undefined) return endpointId;
        return hasSeveral ? `${workspaceOf(endpoint)}/${endpoint.name}` : endpoint.name;
      };
    }),
  );
}

/** A name with a slash in it would be split at the wrong place. */
function workspaceOf({ workspaceId, workspaceName }: PlacedEndpoint): string {
  return workspaceName.includes("/") ? workspaceId : workspaceName;
}
