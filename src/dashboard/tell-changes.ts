import { listChangesAfter, newestChange } from "../audit/audit-store.ts";
import type { SqliteDatabase } from "../database/sqlite/sqlite-database.ts";
import { changed } from "../foundation/events.ts";
import type { Log } from "../foundation/log.ts";

/**
 * Writes to the log what the list of changes has got since the last call, those of commands included. So no page has to remember to
 * do it.
 */
export function createChangeTeller(db: SqliteDatabase, log: Log): () => void {
  let last = db.now(newestChange);
  return () => {
    for (const { id, actor, action, subject, workspaceId } of db.now(() => listChangesAfter(last))) {
      last = id;
      changed(log, { accountId: actor?.accountId ?? null, action, subject, workspaceId });
    }
  };
}
