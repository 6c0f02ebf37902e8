import { first, type Steps, text } from "../../database/steps.ts";
import { BoundedMap } from "../../foundation/bounded-map.ts";
import { monthOf } from "../../foundation/clock.ts";
import type { Committed } from "./batch.ts";

/** Notifies a listener of workspaces that have just reached a share of their monthly limit, or that hold a post because of it. */
export interface LimitNews {
  /** Called after each commit. Costs a few comparisons. */
  readonly report: (committed: Committed) => void;
  /** Sets the only listener; it replaces an earlier one. */
  listen(listener: (workspaceId: string) => void): void;
}

/**
 * The largest number of workspaces remembered as notified of a held post. A workspace that was forgotten is notified again, which changes
 * nothing.
 */
const MAX_REMEMBERED = 10_000;

export function createLimitNews(): LimitNews {
  let notify: ((workspaceId: string) => void) | null = null;
  /** The month of the last held post that was reported, by workspace. */
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

/**
 * Whether a workspace holds a post for the monthly limit that came in a period. @param from milliseconds, inclusive. @param until
 * milliseconds, exclusive.
 */
export function* holdsForLimit(workspaceId: string, from: number, until: number): Steps<boolean> {
  return (yield* first(text(HELD_SQL, workspaceId, from, until))) !== undefined;
}

const HELD_SQL =
  "SELECT 1 FROM held WHERE workspace_id = ? AND why = 'limit' AND created_at >= ? AND created_at < ? LIMIT 1";
