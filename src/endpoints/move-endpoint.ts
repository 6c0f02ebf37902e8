import { z } from "zod";
import { query } from "../database/database.ts";
import { first, run, type Steps, textByEngine } from "../database/steps.ts";
import { raiseSettingsVersion } from "../database/settings-version.ts";
import { changed, type Context, operation } from "../operations/operation.ts";
import { reachWorkspace } from "../workspaces/reach.ts";
import { unbindEndpoint } from "../workspaces/member-store.ts";
import type { Workspace } from "../workspaces/workspace.ts";
import type { Endpoint } from "./endpoint.ts";
import { type EndpointParts, moveContents } from "./endpoint-contents.ts";
import { endpointJson, endpointShape } from "./endpoint-json.ts";
import { changeOf, endpointReference } from "./endpoint-operations.ts";
import { checkEndpointLimit, reachEndpoint } from "./endpoint-store.ts";

/**
 * Keys, ids and submissions do not change. The count of a month stays with the workspace that took the posts. To finish an interrupted
 * move, do it again.
 */
export const moveEndpoint = operation({
  name: "endpoint.move",
  summary: "Move an endpoint with all that belongs to it into another workspace",
  kind: "write",
  access: "endpoints:move",
  input: z.strictObject({
    ...endpointReference,
    to: z.string().describe("Id or name of the workspace that gets the endpoint."),
  }),
  output: z.strictObject({ endpoint: endpointShape }),
  async *run(context: Context<EndpointParts>, { to, ...reference }) {
    const { config } = context;
    const endpoint = await context.transact(function* () {
      const before = yield* reachEndpoint(context, reference);
      const target = yield* reachWorkspace(context, to);
      if (before.workspaceId === target.id) return changed(before);
      yield* checkEndpointLimit(target, config.plans);
      const moved = yield* updateWorkspaceRow(before, target);
      yield* unbindEndpoint(before.workspaceId, before.id);
      // The lists of changes of both workspaces show the move.
      return changed(moved, changeOf(before), changeOf(moved));
    });
    yield* moveContents(context, endpoint);
    return { endpoint: endpointJson(endpoint) };
  },
});

/**
 * Locks the endpoint's row. Posts under way are then either stored before the move, with the old workspace, or see the new one.
 * PostgreSQL's UPDATE alone would not wait for them.
 */
const LOCK_SQL = {
  sqlite: "SELECT id FROM endpoint WHERE id = ?",
  postgresql: "SELECT id FROM endpoint WHERE id = ? FOR UPDATE",
};

function* updateWorkspaceRow(endpoint: Endpoint, { id }: Workspace): Steps<Endpoint> {
  yield* first(textByEngine(LOCK_SQL, endpoint.id));
  yield* run(query.updateTable("endpoint").set({ workspace_id: id }).where("id", "=", endpoint.id));
  yield* raiseSettingsVersion(endpoint.id);
  return { ...endpoint, workspaceId: id };
}
