import { listAllEndpoints } from "../endpoints/endpoint-operations.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { listAllWorkspaces } from "../workspaces/workspace-operations.ts";
import type { PerformCommand } from "./terminal.ts";

/**
 * How lists name endpoints: by the name, and if there are several workspaces, as `WORKSPACE/NAME`, which commands take as a reference;
 * by the id for whoever may not look at endpoints.
 */
export async function labelEndpoints(perform: PerformCommand): Promise<(endpointId: string) => string> {
  const endpoints = await ifAllowed(perform(listAllEndpoints, {}));
  const workspaces = await ifAllowed(perform(listAllWorkspaces, {}));
  const names = new Map(workspaces?.data.map(({ id, name }) => [id, name]));
  const labels = new Map(
    endpoints?.data.map(({ id, name, workspace_id: workspace }) => [
      id,
      names.size > 1 ? `${workspaceLabel(workspace, names.get(workspace))}/${name}` : name,
    ]),
  );
  return (endpointId) => labels.get(endpointId) ?? endpointId;
}

/** A name with a slash in it would be split at the wrong slash. */
function workspaceLabel(workspaceId: string, name: string | undefined): string {
  return name === undefined || name.includes("/") ? workspaceId : name;
}

/** Null if whoever asks may not know it: a token with few scopes. */
export async function ifAllowed<Result>(asked: Promise<Result>): Promise<Result | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof FormsvcError && error.code === "forbidden") return null;
    throw error;
  }
}
