import { query } from "../database/database.ts";
import { all, type Steps } from "../database/steps.ts";
import { eachOf } from "./endpoint-store.ts";
import type { Viewing } from "../operations/actor.ts";
import { listViewableWorkspaces, readWorkspaceNames } from "../workspaces/workspace-store.ts";
import { labelWorkspaces } from "../workspaces/label-workspaces.ts";

/** An endpoint as lists and filters name it. */
export interface EndpointName {
  readonly id: string;
  readonly name: string;
  readonly workspaceId: string;
}

/** Of every endpoint that somebody may see, workspace by workspace, by name. @param limit how many at most; null is all. */
export function* listEndpointNames(viewing: Viewing, limit: number | null): Steps<EndpointName[]> {
  let rows = selectNames().orderBy("workspace_id").orderBy("name").orderBy("id");
  const only = viewing.reach?.endpointId ?? null;
  if (only !== null) rows = rows.where("id", "=", only);
  if (!viewing.isOperator || (viewing.reach ?? null) !== null) {
    const ids = (yield* listViewableWorkspaces(viewing)).map(({ id }) => id);
    rows = rows.where("workspace_id", "in", eachOf(ids));
  }
  return yield* all(limit === null ? rows : rows.limit(limit));
}

/** An endpoint with the workspace it belongs to. */
export interface PlacedEndpoint extends EndpointName {
  readonly workspaceName: string;
}

/** The same with their workspaces, in the order of the workspaces' names. Two workspaces of one name are told apart. */
export function* listPlacedEndpoints(viewing: Viewing, limit: number): Steps<PlacedEndpoint[]> {
  const endpoints = yield* listEndpointNames(viewing, limit);
  const labels = yield* labelWorkspaces([...new Set(endpoints.map(({ workspaceId }) => workspaceId))]);
  return endpoints
    .map(({ id, name, workspaceId }) => ({
      id,
      name,
      workspaceId,
      workspaceName: labels.get(workspaceId) ?? "",
    }))
    .toSorted((left, right) => inOrder(left.workspaceName, right.workspaceName));
}

/** As people look names up, whatever the letters' case. */
function inOrder(left: string, right: string): number {
  return left.localeCompare(right, "en", { sensitivity: "base", numeric: true });
}

/** These endpoints by id. The caller has checked that they may be seen. */
export function* readEndpointNames(ids: readonly string[]): Steps<ReadonlyMap<string, PlacedEndpoint>> {
  if (ids.length === 0) return new Map();
  const endpoints = yield* all(selectNames().where("id", "in", eachOf(ids)));
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
