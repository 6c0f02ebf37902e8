import type { Database } from "../database/database.ts";
import type { Steps } from "../database/steps.ts";
import { reachEndpoint } from "../endpoints/endpoint-store.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { isId } from "../foundation/id.ts";
import { type Reach, type TokenActor, viewingOf } from "../operations/actor.ts";
import { findStanding } from "../workspaces/standing.ts";
import { noWorkspace } from "../workspaces/workspace-store.ts";

/** The header by which a request restricts itself to one workspace or endpoint, named by its id. */
export const ONLY_HEADER = "formsvc-only";

/**
 * The actor of a request, restricted by this header. With it a program gives those whom it serves less than its token can do.
 *
 * @throws not_found for what the token does not see; invalid_request for a text that is not an id
 */
export async function narrow(
  db: Database,
  actor: TokenActor,
  header: string | readonly string[] | undefined,
): Promise<TokenActor> {
  if (header === undefined) return actor;
  return { ...actor, reach: await db.read(() => reachOf(actor, String(header))) };
}

function* reachOf(actor: TokenActor, id: string): Steps<Reach> {
  const viewing = viewingOf(actor);
  if (isId("ep", id)) {
    const { workspaceId } = yield* reachEndpoint({ viewing, access: "endpoints:read" }, { endpoint: id });
    return { workspaceId, endpointId: id };
  }
  if (!isId("ws", id))
    throw new FormsvcError("invalid_request", `the ${ONLY_HEADER} header: expected an id, ws_… or ep_…`, {
      details: { [ONLY_HEADER]: "expected the id of a workspace or an endpoint" },
    });
  if ((yield* findStanding(viewing, id)) === null) throw noWorkspace(id);
  return { workspaceId: id, endpointId: actor.reach?.endpointId ?? null };
}
