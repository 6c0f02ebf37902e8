import type { Steps } from "../../database/steps.ts";
import { listWorkspaceFiles } from "../../files/file-room.ts";
import { type NearLimit, nameWorkspaces } from "../../workspaces/near-limit.ts";
import { hasReached } from "../../workspaces/usage-mark.ts";
import { findLimits, type Plans } from "../../workspaces/workspace.ts";

/** A workspace whose room for files is nearly full. `used` and `limit` are bytes. */
export interface NearStorage extends NearLimit {
  /** Whether no file fits any more, or the files of a post did not fit today or yesterday. */
  readonly isFull: boolean;
}

/**
 * Lists the workspaces whose files take 80 % or more of the room that their plan gives them, or whose files did not fit today or yesterday.
 */
export function* listNearStorage(plans: Plans, now: number): Steps<NearStorage[]> {
  const files = new Map((yield* listWorkspaceFiles(now)).map((each) => [each.workspaceId, each]));
  if (files.size === 0) return [];
  const named = yield* nameWorkspaces([...files.keys()]);
  return named.flatMap((workspace) => {
    const limit = findLimits(plans, workspace.plan)?.fileBytes ?? null;
    const { bytes: used, wasFull } = files.get(workspace.workspaceId) ?? { bytes: 0, wasFull: false };
    if (limit === null || (!wasFull && !hasReached(used, limit, 80))) return [];
    return [{ ...workspace, used, limit, isFull: wasFull || hasReached(used, limit, 100) }];
  });
}
