import { type Actor, type Change, recordChange } from "../audit/audit-store.ts";
import type { Steps } from "../database/steps.ts";
import { getEndpoint } from "../endpoints/endpoint-store.ts";
import type { Mark } from "../history/teach.ts";
import { dropHeldPosts } from "./held-post.ts";
import { markSubmissions } from "./mark-submission.ts";
import { deleteSubmissions } from "./submission-store.ts";

/** What people do with posts. Each records who did it, once for each workspace; null is the command line. */

/** As {@link markSubmissions}. @throws not_found */
export function* judgeSubmissions(
  actor: Actor | null,
  { ids, mark }: { readonly ids: readonly string[]; readonly mark: Mark | null },
  now: number,
): Steps<void> {
  const workspaceIds = yield* markSubmissions(ids, mark, now);
  yield* recordEach(actor, "submission.mark", { ids, workspaceIds, did: `marked ${mark ?? "none"}` }, now);
}

/** As {@link deleteSubmissions}. @throws not_found */
export function* removeSubmissions(actor: Actor | null, ids: readonly string[], now: number): Steps<void> {
  const workspaceIds: string[] = [];
  for (const endpointId of yield* deleteSubmissions(ids))
    workspaceIds.push((yield* getEndpoint(endpointId)).workspaceId);
  yield* recordEach(actor, "submission.delete", { ids, workspaceIds, did: "deleted" }, now);
}

/** As {@link dropHeldPosts}. @throws not_found */
export function* discardHeldPosts(actor: Actor | null, ids: readonly string[], now: number): Steps<void> {
  const workspaceIds = yield* dropHeldPosts(ids);
  yield* recordEach(actor, "held.drop", { ids, workspaceIds, did: "dropped" }, now);
}

interface Done {
  readonly ids: readonly string[];
  /** Of each, in the same order. */
  readonly workspaceIds: readonly string[];
  readonly did: string;
}

function* recordEach(
  actor: Actor | null,
  action: Change["action"],
  { ids, workspaceIds, did }: Done,
  now: number,
): Steps<void> {
  for (const workspaceId of new Set(workspaceIds)) {
    const own = ids.filter((_id, index) => workspaceIds[index] === workspaceId);
    yield* recordChange(
      actor,
      { action, subject: own.join(" "), workspaceId, detail: `${own.length} ${did}` },
      now,
    );
  }
}
