import { first, type Steps, text } from "../database/steps.ts";
import { monthOf } from "../foundation/clock.ts";
import type { Committed } from "./batch.ts";

/** Told of workspaces that have just reached a share of their monthly limit, or hold a post for it. */
export interface LimitNews {
  /** Costs a few comparisons for each commit. */
  readonly report: (committed: Committed) => void;
  /** One listener; a later one takes its place. */
  listen(listener: (workspaceId: string) => void): void;
}

/** Workspaces that are remembered as told of a held post; all are forgotten beyond it and told again, which changes nothing. */
const MAX_REMEMBERED = 10_000;

export function createLimitNews(): LimitNews {
  let tell: ((workspaceId: string) => void) | null = null;
  const held = new Set<string>();
  const noteHeld = (workspaceId: string, time: number): void => {
    const unit = `${workspaceId} ${monthOf(time)}`;
    if (held.has(unit)) return;
    if (held.size >= MAX_REMEMBERED) held.clear();
    held.add(unit);
    tell?.(workspaceId);
  };
  return {
    report({ batch, outcomes, marks }) {
      if (tell === null) return;
      for (const { workspaceId } of marks) tell(workspaceId);
      for (const [index, pending] of batch.entries())
        if ("held" in pending && pending.held.why === "limit" && outcomes[index] === "stored")
          noteHeld(pending.held.workspaceId, pending.held.createdAt);
    },
    listen: (listener) => void (tell = listener),
  };
}

/** Whether a post is held for the monthly limit that came within a time. */
export function* holdsForLimit(workspaceId: string, from: number, until: number): Steps<boolean> {
  return (yield* first(text(HELD_SQL, workspaceId, from, until))) !== undefined;
}

const HELD_SQL =
  "SELECT 1 FROM held WHERE workspace_id = ? AND why = 'limit' AND created_at >= ? AND created_at < ? LIMIT 1";
