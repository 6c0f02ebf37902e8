import { query } from "../../database/database.ts";
import { all, type Steps } from "../../database/steps.ts";
import { listedIds } from "../../database/list-parameter.ts";
import { findReachableEndpoint, mayViewEndpoint } from "../../endpoints/endpoint-store.ts";
import { isId } from "../../foundation/id.ts";
import { type Asking, isInReach } from "../../workspaces/reach.ts";
import { listBinned } from "../stored/submission-bin.ts";
import { idOfEndpoint } from "../stored/endpoint-number.ts";
import { findHeldPost, type HeldPost, noHeldPost } from "../held/held-post.ts";
import type { StoredSubmission } from "../stored/submission-work.ts";
import { findSubmission, noSubmission } from "../stored/submission-store.ts";

/*
 * Which posts a caller may reach. The endpoint decides: a post of an endpoint that the caller may not see is treated as if it did not
 * exist. The same holds for a token that is bound to another endpoint.
 */

/**
 * Returns the workspace of each of these endpoints, by the endpoint's id; endpoints that the caller may not see are left out. @throws
 * forbidden
 */
export function* reachWorkspacesOf(
  asking: Asking,
  endpointIds: Iterable<string>,
): Steps<ReadonlyMap<string, string>> {
  const workspaceIds = new Map<string, string>();
  for (const id of new Set(endpointIds)) {
    const endpoint = yield* findReachableEndpoint(asking, id);
    if (endpoint !== undefined) workspaceIds.set(id, endpoint.workspaceId);
  }
  return workspaceIds;
}

/**
 * @param bin `anywhere` also finds a submission that is in the bin.
 * @throws not_found, with the same message if there is no such submission and if the caller may not see it; forbidden
 */
export function* reachSubmission(
  asking: Asking,
  id: string,
  bin: Exclude<BinFilter, "binned"> = "kept",
): Steps<StoredSubmission> {
  const submission = yield* findSubmission(id);
  if (submission === undefined || !(yield* reachWorkspacesOf(asking, [submission.endpointId])).size)
    throw noSubmission(id);
  if (bin === "kept" && submission.deletedAt !== null)
    throw noSubmission(id, "; it is in the bin, and submission undelete brings it back");
  return submission;
}

/** Which submissions count: `kept` are those outside the bin, `binned` those in it. */
export type BinFilter = "kept" | "binned" | "anywhere";

/**
 * Returns the workspace of each of these submissions, by the submission's id; those that the caller may not see are left out. @throws
 * forbidden
 */
export function* findReachableSubmissions(
  asking: Asking,
  ids: readonly string[],
  bin: BinFilter = "kept",
): Steps<ReadonlyMap<string, string>> {
  const binned = yield* listBinned(ids);
  const wanted = listedIds(ids.filter((id) => isId("sub", id)));
  const rows = yield* all(
    query
      .selectFrom("submission")
      .select(["id", idOfEndpoint.as("endpoint_id")])
      .where("id", "in", wanted),
  );
  const workspaceIds = yield* reachWorkspacesOf(
    asking,
    rows.map((row) => row.endpoint_id),
  );
  const found = new Map<string, string>();
  for (const row of rows) {
    const workspaceId = workspaceIds.get(row.endpoint_id);
    const isMeant = bin === "anywhere" || binned.has(row.id) === (bin === "binned");
    if (workspaceId !== undefined && isMeant) found.set(row.id, workspaceId);
  }
  return found;
}

/**
 * Returns the workspace of each of these submissions, in their order.
 *
 * @param consequence is appended to the message if one does not exist. @throws as {@link reachSubmission}, naming the first that does not
 * exist
 */
export function* reachSubmissions(
  asking: Asking,
  ids: readonly string[],
  { consequence = "", bin = "kept" }: { readonly consequence?: string; readonly bin?: BinFilter } = {},
): Steps<readonly string[]> {
  const workspaceIds = yield* findReachableSubmissions(asking, ids, bin);
  return ids.map((id) => {
    const workspaceId = workspaceIds.get(id);
    if (workspaceId === undefined) throw noSubmission(id, consequence, bin);
    return workspaceId;
  });
}

/** @throws as {@link reachSubmission} */
export function* reachHeldPost(asking: Asking, id: string): Steps<HeldPost> {
  const held = yield* findHeldPost(id);
  if (held === undefined || !(yield* isHeldInReach(asking, held))) throw noHeldPost(id);
  return held;
}

/** Does for held posts what {@link findReachableSubmissions} does for submissions. */
export function* findReachableHeldPosts(
  asking: Asking,
  ids: readonly string[],
): Steps<ReadonlyMap<string, string>> {
  const wanted = listedIds(ids.filter((id) => isId("held", id)));
  const columns = ["id", "workspace_id as workspaceId", "endpoint_id as endpointId"] as const;
  const rows = yield* all(query.selectFrom("held").select(columns).where("id", "in", wanted));
  const workspaceIds = new Map<string, string>();
  for (const row of rows) if (yield* isHeldInReach(asking, row)) workspaceIds.set(row.id, row.workspaceId);
  return workspaceIds;
}

/**
 * Returns the workspace of each of these held posts, in their order.
 *
 * @param consequence is appended to the message if one does not exist. @throws as {@link reachSubmission}, naming the first that does not
 * exist
 */
export function* reachHeldPosts(
  asking: Asking,
  ids: readonly string[],
  consequence: string,
): Steps<readonly string[]> {
  const workspaceIds = yield* findReachableHeldPosts(asking, ids);
  return ids.map((id) => {
    const workspaceId = workspaceIds.get(id);
    if (workspaceId === undefined) throw noHeldPost(id, consequence);
    return workspaceId;
  });
}

/** Whether the caller may reach a held post. @throws forbidden */
function* isHeldInReach(
  asking: Asking,
  { workspaceId, endpointId }: Pick<HeldPost, "workspaceId" | "endpointId">,
): Steps<boolean> {
  if (!(yield* mayViewEndpoint(asking.viewing, workspaceId, endpointId))) return false;
  return yield* isInReach(asking, workspaceId);
}
