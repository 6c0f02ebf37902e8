import { query } from "../../database/database.ts";
import { all, first, type Steps } from "../../database/steps.ts";
import { listed } from "../../database/list-parameter.ts";
import { toIsoTime } from "../../foundation/clock.ts";
import { type Finding, problem, sound } from "../../foundation/finding.ts";
import { viewableEndpointIds } from "../../endpoints/endpoint-store.ts";
import type { Viewing } from "../../operations/actor.ts";
import { findSight } from "../../workspaces/standing.ts";
import { listWorkspaces } from "../../workspaces/workspace-store.ts";
import { findLimits, type Plans } from "../../workspaces/workspace.ts";
import { sumHeldBytes } from "./evict-held.ts";
import { countHeldPostsOf } from "./held-post.ts";

/** The share of a bound from which on the owner should make room. */
const CLOSE_TO_FULL = 0.8;

export interface HeldRules {
  /** The largest number of held posts that a workspace keeps; null is unlimited. */
  readonly maxPerWorkspace: number | null;
  /** Returns the largest number of bytes that all held posts may take; null is unlimited. @param heldBytes the bytes that they take now */
  readonly maxBytes: (heldBytes: number) => number | null;
  readonly plans: Plans;
}

/**
 * Returns one finding for each workspace whose held posts come near a bound, and one if all together do; a single sound one if none does.
 */
export function* checkHeldPostRoom({ maxPerWorkspace, maxBytes, plans }: HeldRules): Steps<Finding[]> {
  const bytes = yield* sumHeldBytes();
  const most = maxBytes(bytes);
  const planOf = new Map((yield* listWorkspaces()).map(({ id, plan }) => [id, plan]));
  const findings = (yield* listHolders()).flatMap((holder) => {
    const { workspace_id: id, posts, evicted, evicted_at: at } = holder;
    const ofPlan = findLimits(plans, planOf.get(id) ?? "")?.heldBytes ?? null;
    const taken = [
      ...(isClose(posts, maxPerWorkspace) ? [`${posts} refused posts of ${maxPerWorkspace}`] : []),
      ...(isClose(holder.bytes, ofPlan) ? [`${mebibytes(holder.bytes)} of ${mebibytes(ofPlan ?? 0)}`] : []),
    ];
    if (taken.length === 0) return [];
    const gone = at === null ? "" : `; ${evicted} had to go so far, the last at ${toIsoTime(at)}`;
    const message = `${id} holds ${taken.join(" and ")}${gone}`;
    return [problem("held.room", message, { kind: "make_room_for_held_posts" })];
  });
  if (isClose(bytes, most)) {
    const message = `the refused posts of all workspaces take ${mebibytes(bytes)} of ${mebibytes(most ?? 0)}`;
    findings.push(problem("held.room", message, { kind: "make_room_for_held_posts" }));
  }
  return findings.length > 0
    ? findings
    : [sound("held.room", `there is room for posts that are refused; they take ${mebibytes(bytes)}`)];
}

function isClose(taken: number, most: number | null): boolean {
  return most !== null && taken > 0 && taken >= Math.ceil(most * CLOSE_TO_FULL);
}

function listHolders() {
  return all(query.selectFrom("held_total").selectAll().where("posts", ">", 0).orderBy("workspace_id"));
}

/** Counts the held posts that somebody may see. */
export function* countViewableHeld(viewing: Viewing): Steps<number> {
  const sight = yield* findSight(viewing);
  if (sight === null) return yield* countHeldPosts((yield* listWorkspaces()).map(({ id }) => id));
  if (sight.bound.length === 0) return yield* countHeldPosts(sight.whole);
  return yield* countHeldPostsOf(yield* viewableEndpointIds(viewing), AFTER_ALL_HELD);
}

/** A text that is greater than the id of every held post. */
const AFTER_ALL_HELD = "held_~";

/** The total number of held posts of these workspaces. */
export function* countHeldPosts(workspaceIds: readonly string[]): Steps<number> {
  const ids = listed(workspaceIds);
  const counted = yield* first(
    query
      .selectFrom("held_total")
      .select(({ fn }) => fn.sum<number | null>("posts").as("posts"))
      .where("workspace_id", "in", ids),
  );
  return counted?.posts ?? 0;
}

/** Writes a number of bytes in MiB, rounded up. */
function mebibytes(bytes: number): string {
  return `${Math.ceil(bytes / 1_048_576)} MiB`;
}
