import type { Steps } from "../database/steps.ts";
import type { Context, Progress } from "../operations/operation.ts";
import { runBatches } from "../operations/run-batches.ts";
import type { Endpoint } from "./endpoint.ts";

/** Deletes and moves what belongs to an endpoint in the tables of other folders. */
export interface EndpointContents {
  /**
   * Steps that run in this order when an endpoint is deleted. Each deletes at most `limit` rows, or fewer if they are large, and returns
   * their number; 0 means that nothing of its kind is left.
   */
  readonly deletions: readonly ((endpointId: string, limit: number) => Steps<number>)[];
  /** The same when an endpoint has moved, for rows that name its workspace. */
  readonly moves: readonly ((endpointId: string, workspaceId: string, limit: number) => Steps<number>)[];
}

export interface EndpointParts {
  readonly endpointContents: EndpointContents;
}

/** The largest numbers of rows that one transaction deletes or moves, so that posts never wait long. */
const DELETED_AT_ONCE = 500;
const MOVED_AT_ONCE = 200;

/** Deletes all that belongs to an endpoint. */
export function deleteContents(
  { db, parts }: Context<EndpointParts>,
  endpointId: string,
): AsyncGenerator<Progress, void> {
  const batches = parts.endpointContents.deletions.map((each) => () => each(endpointId, DELETED_AT_ONCE));
  return runBatches(db, batches);
}

/** Moves all that belongs to an endpoint into the workspace that the endpoint is in now. */
export function moveContents(
  { db, parts }: Context<EndpointParts>,
  { id, workspaceId }: Endpoint,
): AsyncGenerator<Progress, void> {
  const batches = parts.endpointContents.moves.map((each) => () => each(id, workspaceId, MOVED_AT_ONCE));
  return runBatches(db, batches);
}
