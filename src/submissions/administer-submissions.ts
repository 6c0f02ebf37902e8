import { type Actor, type Change, recordChange } from "../audit/audit-store.ts";
import type { Database } from "../database/database.ts";
import { writeInTurn } from "../database/read-in-turn.ts";
import type { Steps } from "../database/steps.ts";
import { getEndpoint } from "../endpoints/endpoint-store.ts";
import type { Mark } from "../history/teach.ts";
import { dropHeldPosts, dropHeldPostsOf } from "./held-post.ts";
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

/** Held posts to drop: those of some endpoints up to one post. */
export interface HeldPostRange {
  /** Null is every endpoint. */
  readonly endpointIds: readonly string[] | null;
  /** The id of the newest that goes: what came after it stays. */
  readonly newestId: string;
  /** What the record names: an endpoint's id, or `all`. */
  readonly subject: string;
}

/** Drops them, up to 500 in a transaction, each of which is recorded. Returns how many. @throws database_busy */
export async function discardHeldPostRange(
  db: Database,
  actor: Actor | null,
  { endpointIds, newestId, subject }: HeldPostRange,
  now: number,
): Promise<number> {
  let dropped = 0;
  for (;;) {
    const batch = await writeInTurn(db, function* () {
      const count = yield* dropHeldPostsOf(endpointIds, newestId);
      const detail = `${count} dropped, up to ${newestId}`;
      if (count > 0)
        yield* recordChange(actor, { action: "held.drop", subject, workspaceId: null, detail }, now);
      return count;
    });
    if (batch === 0) return dropped;
    dropped += batch;
  }
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
