import type { SqliteDatabase } from "../database/sqlite/sqlite-database.ts";

/**
 * Accepted submissions by workspace and month: the table decides, inside the transaction that stores a submission;
 * memory answers beforehand, so that a full workspace costs no transaction.
 */
export interface UsageCounter {
  /** The count that this process knows; never below what it stored itself. Reads the file once for each workspace and month. */
  estimate(workspaceId: string, month: string): number;
  /** The table's count; inside a transaction. */
  read(workspaceId: string, month: string): number;
  /** Inside a transaction; call {@link UsageCounter.remember} once it is committed. */
  write(workspaceId: string, month: string, used: number): void;
  remember(workspaceId: string, month: string, used: number): void;
  /** Another process may have counted: reads the file again from now on. */
  forget(): void;
}

/** Workspaces remembered; all are forgotten beyond this and read again. */
const MAX_REMEMBERED = 10_000;

export function createUsageCounter(db: SqliteDatabase): UsageCounter {
  const select = db.prepare("SELECT used FROM usage WHERE workspace_id = ? AND month = ?").pluck();
  const upsert = db.prepare(
    `INSERT INTO usage (workspace_id, month, used) VALUES (?, ?, ?)
     ON CONFLICT (workspace_id, month) DO UPDATE SET used = excluded.used`,
  );
  const known = new Map<string, { month: string; used: number }>();
  const read = (workspaceId: string, month: string): number => Number(select.get(workspaceId, month) ?? 0);
  const remember = (workspaceId: string, month: string, used: number): void => {
    if (known.size >= MAX_REMEMBERED && !known.has(workspaceId)) known.clear();
    known.set(workspaceId, { month, used });
  };
  return {
    estimate(workspaceId, month) {
      const entry = known.get(workspaceId);
      if (entry?.month === month) return entry.used;
      const used = db.readNow(() => read(workspaceId, month));
      remember(workspaceId, month, used);
      return used;
    },
    read,
    write: (workspaceId, month, used) => void upsert.run(workspaceId, month, used),
    remember,
    forget: () => known.clear(),
  };
}
