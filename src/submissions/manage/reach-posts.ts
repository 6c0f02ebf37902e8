import { query } from "../../database/database.ts";
import { all, type Steps } from "../../database/steps.ts";
import { listed } from "../../database/list-parameter.ts";
import { findReachableEndpoint, mayViewEndpoint } from "../../endpoints/endpoint-store.ts";
import { isId } from "../../foundation/id.ts";
import { type Asking, isInReach } from "../../workspaces/reach.ts";
import { listBinned } from "../stored/submission-bin.ts";
import { idOfEndpoint } from "../stored/endpoint-number.ts";
import { findHeldPost, type HeldPost, noHeldPost } from "../held/held-post.ts";
import type { StoredSubmission } from "../stored/submission-work.ts";
import { findSubmission, noSubmission } from "../stored/submission-store.ts";

/*
 * What whoever asks may see of what was sent. It follows from the endpoint: a post of somebody else's is like none, and so is one of
 * another endpoint for a token that is bound to one.
 */

/** The workspaces of these endpoints, by their ids, without those that are not there for whoever asks. @throws forbidden */
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

/** @throws not_found, in the same words, when there is none with this id and when it is somebody else's; forbidden */
export function* reachSubmission(asking: Asking, id: string): Steps<StoredSubmission> {
  const submission = yield* findSubmission(id);
  if (submission === undefined || !(yield* reachWorkspacesOf(asking, [submission.endpointId])).size)
    throw noSubmission(id);
  if (submission.deletedAt !== null)
    throw noSubmission(id, "; it is in the bin, and submission undelete brings it back");
  return submission;
}

/** Which submissions are meant: those that are not in the bin, those that are, or both. */
export type BinFilter = "kept" | "binned" | "anywhere";

/** The workspaces of those of these submissions that are there for whoever asks, by their ids. @throws forbidden */
export function* findSubmissions(
  asking: Asking,
  ids: readonly string[],
  bin: BinFilter = "kept",
): Steps<ReadonlyMap<string, string>> {
  const binned = yield* listBinned(ids);
  const wanted = listed(ids.filter((id) => isId("sub", id)));
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
 * The workspace of each of these submissions, in their order.
 *
 * @param consequence of one that is not there, for the message. @throws as {@link reachSubmission}, naming the first
 */
export function* reachSubmissions(
  asking: Asking,
  ids: readonly string[],
  { consequence = "", bin = "kept" }: { readonly consequence?: string; readonly bin?: BinFilter } = {},
): Steps<readonly string[]> {
  const workspaceIds = yield* findSubmissions(asking, ids, bin);
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

/** The same as {@link findSubmissions} of held posts. */
export function* findHeldPosts(asking: Asking, ids: readonly string[]): Steps<ReadonlyMap<string, string>> {
  const wanted = listed(ids.filter((id) => isId("held", id)));
  const columns = ["id", "workspace_id as workspaceId", "endpoint_id as endpointId"] as const;
  const rows = yield* all(query.selectFrom("held").select(columns).where("id", "in", wanted));
  const workspaceIds = new Map<string, string>();
  for (const row of rows) if (yield* isHeldInReach(asking, row)) workspaceIds.set(row.id, row.workspaceId);
  return workspaceIds;
}

/**
 * The workspace of each of these held posts, in their order.
 *
 * @param consequence of one that is not there, for the message. @throws as {@link reachSubmission}, naming the first
 */
export function* reachHeldPosts(
  asking: Asking,
  ids: readonly string[],
  consequence: string,
): Steps<readonly string[]> {
  const workspaceIds = yield* findHeldPosts(asking, ids);
  return ids.map((id) => {
    const workspaceId = workspaceIds.get(id);
    if (workspaceId === undefined) throw noHeldPost(id, consequence);
    return workspaceId;
  });
}

/** Whether a held post is there for whoever asks. @throws forbidden */
function* isHeldInReach(
  asking: Asking,
  { workspaceId, endpointId }: Pick<HeldPost, "workspaceId" | "endpointId">,
): Steps<boolean> {
  if (!(yield* mayViewEndpoint(asking.viewing, workspaceId, endpointId))) return false;
  return yield* isInReach(asking, workspaceId);
}
