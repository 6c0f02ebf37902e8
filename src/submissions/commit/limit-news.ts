import { first, type Steps, text } from "../../database/steps.ts";
import { BoundedMap } from "../../foundation/bounded-map.ts";
import { monthOf } from "../../foundation/clock.ts";
import type { Committed } from "./batch.ts";

/** Called for workspaces that have just reached a share of their monthly limit, or hold a post for it. */
export interface LimitNews {
  /** Costs a few comparisons for each commit. */
  readonly report: (committed: Committed) => void;
  /** One listener; a later one takes its place. */
  listen(listener: (workspaceId: string) => void): void;
}

/** Workspaces that are remembered as told of a held post; one that was forgotten is told again, which changes nothing. */
const MAX_REMEMBERED = 10_000;

export function createLimitNews(): LimitNews {
  let notify: ((workspaceId: string) => void) | null = null;
  /** With the month of that post. */
  const held = new BoundedMap<string, string>(MAX_REMEMBERED);
  const noteHeld = (workspaceId: string, time: number): void => {
    const month = monthOf(time);
    if (held.get(workspaceId) === month) return;
    held.set(workspaceId, month);
    notify?.(workspaceId);
  };
  return {
    report({ batch, outcomes, marks }) {
      if (notify === null) return;
      for (const { workspaceId } of marks) notify(workspaceId);
      for (const [index, pending] of batch.entries())
        if (pending.kind === "held" && pending.held.why === "limit" && outcomes[index] === "stored")
          noteHeld(pending.held.workspaceId, pending.held.createdAt);
    },
    listen: (listener) => void (notify = listener),
  };
}

/** Whether a post is held for the monthly limit that came within a time. */
export function* holdsForLimit(workspaceId: string, from: number, until: number): Steps<boolean> {
  return (yield* first(text(HELD_SQL, workspaceId, from, until))) !== undefined;
}

const HELD_SQL =
  "SELECT 1 FROM held WHERE workspace_id = ? AND why = 'limit' AND created_at >= ? AND created_at < ? LIMIT 1";
