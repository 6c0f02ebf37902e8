import { query } from "../database/database.ts";
import { all, type Steps } from "../database/steps.ts";
import { listedIds } from "../database/list-parameter.ts";
import { isSeen, listEndpoints, reachEndpoint, viewableEndpointIds } from "./endpoint-store.ts";
import { inNameOrder } from "../foundation/name-order.ts";
import type { Viewing } from "../operations/actor.ts";
import { labelWorkspaces } from "../workspaces/label-workspaces.ts";
import { type Asking, isInReach } from "../workspaces/reach.ts";
import { findSight, requireAnywhere } from "../workspaces/standing.ts";
import { getWorkspace, readWorkspaceNames } from "../workspaces/workspace-store.ts";

/** An endpoint as lists and filters name it. */
export interface EndpointName {
  readonly id: string;
  readonly name: string;
  readonly workspaceId: string;
}

/** The endpoint or workspace that a request is about; both are null for everything that the actor may see. */
export interface EndpointsReference {
  readonly endpoint: string | null;
  readonly workspace: string | null;
}

/**
 * The ids of the endpoints that a request is about; null means every endpoint, for an actor who sees all. If no workspace is named, only
 * workspaces in which the role is enough count.
 *
 * @throws not_found, ambiguous; forbidden if the role is enough in no workspace
 */
export function* reachEndpointIds(
  asking: Asking,
  { endpoint, workspace }: EndpointsReference,
): Steps<readonly string[] | null> {
  if (endpoint !== null) return [(yield* reachEndpoint(asking, { endpoint, workspace })).id];
  const { viewing, access } = asking;
  if (workspace === null) {
    yield* requireAnywhere(viewing, access);
    return yield* viewableEndpointIds(viewing, access);
  }
  const { id: only } = yield* getWorkspace(workspace, viewing);
  yield* isInReach(asking, only);
  return (yield* listEndpoints(only, viewing)).map(({ id }) => id);
}

/** The name of every endpoint that somebody may see, sorted by workspace and name. @param limit the largest number; null means all */
export function* listEndpointNames(viewing: Viewing, limit: number | null): Steps<EndpointName[]> {
  let rows = selectNames().orderBy("workspace_id").orderBy("name").orderBy("id");
  const only = viewing.reach?.endpointId ?? null;
  if (only !== null) rows = rows.where("id", "=", only);
  const sight = yield* findSight(viewing);
  if (sight !== null) rows = rows.where(isSeen(sight));
  return yield* all(limit === null ? rows : rows.limit(limit));
}

/** An endpoint with the workspace it belongs to. */
export interface EndpointInWorkspace extends EndpointName {
  readonly workspaceName: string;
}

/**
 * Like {@link listEndpointNames}, with the names of the workspaces, and sorted as people sort names: by workspace, then by endpoint. Workspaces
 * with the same name get different labels.
 */
export function* listEndpointsInWorkspaces(viewing: Viewing, limit: number): Steps<EndpointInWorkspace[]> {
  const endpoints = yield* listEndpointNames(viewing, limit);
  const labels = yield* labelWorkspaces([...new Set(endpoints.map(({ workspaceId }) => workspaceId))]);
  return endpoints
    .map(({ id, name, workspaceId }) => ({
      id,
      name,
      workspaceId,
      workspaceName: labels.get(workspaceId) ?? "",
    }))
    .toSorted(
      (left, right) =>
        inNameOrder(left.workspaceName, right.workspaceName) || inNameOrder(left.name, right.name),
    );
}

/** The names of these endpoints, by id. The caller has checked that they may be seen. */
export function* readEndpointNames(ids: readonly string[]): Steps<ReadonlyMap<string, EndpointInWorkspace>> {
  if (ids.length === 0) return new Map();
  const endpoints = yield* all(selectNames().where("id", "in", listedIds(ids)));
  const names = yield* readWorkspaceNames(endpoints.map(({ workspaceId }) => workspaceId));
  return new Map(
    endpoints.map((endpoint) => [
      endpoint.id,
      { ...endpoint, workspaceName: names.get(endpoint.workspaceId) ?? "" },
    ]),
  );
}

function selectNames() {
  return query.selectFrom("endpoint").select(["id", "name", "workspace_id as workspaceId"]);
}
