import type { SqliteDatabase } from "../database/sqlite/sqlite-database.ts";
import { USED_SQL } from "./usage-counter.ts";

/** The counts of accepted submissions by workspace and month, read and written inside the caller's transaction. */
export interface UsageTable {
  readonly read: (workspaceId: string, month: string) => number;
  readonly write: (workspaceId: string, month: string, used: number) => void;
}

export function createUsageTable(db: SqliteDatabase): UsageTable {
  const select = db.prepare(USED_SQL).pluck();
  const upsert = db.prepare(
    `INSERT INTO usage (workspace_id, month, used) VALUES (?, ?, ?)
     ON CONFLICT (workspace_id, month) DO UPDATE SET used = excluded.used`,
  );
  return {
    read: (workspaceId, month) => Number(select.get(workspaceId, month) ?? 0),
    write: (workspaceId, month, used) => void upsert.run(workspaceId, month, used),
  };
}
