import { listAllEndpoints } from "../../endpoints/endpoint-operations.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { listAllWorkspaces } from "../../workspaces/workspace-operations.ts";
import type { PerformCommand } from "../output/terminal.ts";

/**
 * Returns how lists name an endpoint: by its name, or as `WORKSPACE/NAME` if there are several workspaces. Commands accept both as
 * references. It is the id if the caller may not look at endpoints.
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

/** The part before the slash: the id if the name contains a slash, because the label would be split at the wrong one. */
function workspaceLabel(workspaceId: string, name: string | undefined): string {
  return name === undefined || name.includes("/") ? workspaceId : name;
}

/** Null if the caller may not know the result, like a token with few scopes. */
export async function ifAllowed<Result>(asked: Promise<Result>): Promise<Result | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof FormsvcError && error.code === "forbidden") return null;
    throw error;
  }
}
