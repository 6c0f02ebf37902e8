import type { Database } from "../database/database.ts";
import { type IssuedKey, prepareKey, storeKey } from "../keys/issue-key.ts";
import { chooseWorkspace } from "../workspaces/workspace-store.ts";
import { DEFAULT_PLAN, type Plans } from "../workspaces/workspace.ts";
import type { Endpoint } from "./endpoint.ts";
import { insertEndpoint, listEndpoints, type NewEndpoint } from "./endpoint-store.ts";

export interface CreatedEndpoint {
  readonly endpoint: Endpoint;
  /** Both are shown to the owner now and never again. */
  readonly secret: IssuedKey;
  readonly publishable: IssuedKey;
  /** Whether another endpoint has the same name, so that commands need the id. */
  readonly hasNamesake: boolean;
}

/**
 * Makes an endpoint with its two keys, all or nothing. An empty database gets its first account and workspace.
 *
 * @param workspace id or unique name; null is the only workspace there is.
 * @param newWorkspacePlan the plan of the workspace if it is created here.
 * @throws usage, not_found, ambiguous, plan_limit
 */
export async function createEndpoint(
  db: Database,
  workspace: string | null,
  made: NewEndpoint,
  plans: Plans,
  now: number,
  newWorkspacePlan: string = DEFAULT_PLAN,
): Promise<CreatedEndpoint> {
  const [secret, publishable] = await Promise.all([prepareKey("secret"), prepareKey("publishable")]);
  return db.transaction(function* () {
    const endpoint = yield* insertEndpoint(
      yield* chooseWorkspace(workspace, now, newWorkspacePlan),
      made,
      plans,
      now,
    );
    return {
      endpoint,
      secret: yield* storeKey(endpoint.id, secret, now),
      publishable: yield* storeKey(endpoint.id, publishable, now),
      hasNamesake: (yield* listEndpoints(null)).some(
        ({ id, name }) => name === endpoint.name && id !== endpoint.id,
      ),
    };
  });
}
