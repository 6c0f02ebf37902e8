import { BoundedMap } from "../foundation/bounded-map.ts";
import type { MaybeLater } from "../foundation/maybe-later.ts";
import type { Database } from "../database/database.ts";
import { first, type Steps, text } from "../database/steps.ts";

/**
 * What this process knows about the numbers of accepted submissions by workspace and month. The table decides, inside the transaction that
 * stores a submission. The memory answers before it, so that a post to a full workspace costs no transaction.
 */
export interface UsageCounter {
  /**
   * The count that this process knows, which is never below what it stored itself. It reads the database once for each workspace and month.
   */
  estimate(workspaceId: string, month: string): MaybeLater<number>;
  /** Call this when a transaction that counted is committed. */
  remember(workspaceId: string, month: string, used: number): void;
  /** Makes the next estimates read the database again, because another process may have counted. */
  forget(): void;
}

/** The largest number of workspaces in memory. A workspace that was dropped is read again. */
const MAX_REMEMBERED = 10_000;

export const USED_SQL = "SELECT used FROM usage WHERE workspace_id = ? AND month = ?";

export function createUsageCounter(db: Database): UsageCounter {
  const known = new BoundedMap<string, { readonly month: string; readonly used: number }>(MAX_REMEMBERED);
  const remember = (workspaceId: string, month: string, used: number): void => {
    known.set(workspaceId, { month, used });
  };
  const recall = (workspaceId: string, month: string): number | undefined => {
    const entry = known.get(workspaceId);
    return entry?.month === month ? entry.used : undefined;
  };
  const ask = async (workspaceId: string, month: string): Promise<number> => {
    const used = await db.read(() => readUsed(workspaceId, month));
    // A batch may have been counted during the read.
    const counted = recall(workspaceId, month);
    if (counted !== undefined) return counted;
    remember(workspaceId, month, used);
    return used;
  };
  return {
    estimate: (workspaceId, month) => recall(workspaceId, month) ?? ask(workspaceId, month),
    remember,
    forget: () => known.clear(),
  };
}

function* readUsed(workspaceId: string, month: string): Steps<number> {
  return (yield* first(text<{ used: number }>(USED_SQL, workspaceId, month)))?.used ?? 0;
}
