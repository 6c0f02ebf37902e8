import type { Database } from "../database/database.ts";
import type { Steps } from "../database/steps.ts";
import { type IssuedKey, type PreparedKey, prepareKey, storeKey } from "../keys/issue-key.ts";
import type { KeyKind } from "../keys/key-format.ts";
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

/** Where and when an endpoint is made. */
export interface EndpointPlace {
  /** Id or unique name; null is the only workspace there is. */
  readonly workspace: string | null;
  readonly plans: Plans;
  /** The plan of the workspace if it is created here. */
  readonly newWorkspacePlan?: string;
  readonly now: number;
}

/**
 * Makes an endpoint with its two keys, all or nothing. An empty database gets its first account and workspace.
 *
 * @param also what belongs to the same transaction; if it throws, nothing was made.
 * @throws usage, not_found, ambiguous, plan_limit
 */
export async function createEndpoint(
  db: Database,
  made: NewEndpoint,
  { workspace, plans, newWorkspacePlan = DEFAULT_PLAN, now }: EndpointPlace,
  also: (endpoint: Endpoint) => Steps<void> = nothingElse,
): Promise<CreatedEndpoint> {
  const prepare = (kind: KeyKind): Promise<PreparedKey> => prepareKey(kind, workspace ?? "");
  const [secret, publishable] = await Promise.all([prepare("secret"), prepare("publishable")]);
  return db.transaction(function* () {
    const endpoint = yield* insertEndpoint(
      yield* chooseWorkspace(workspace, now, newWorkspacePlan),
      made,
      plans,
      now,
    );
    yield* also(endpoint);
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

function* nothingElse(): Steps<void> {}
