import type { SqliteDatabase } from "../database/sqlite/sqlite-database.ts";
import { emptyLog } from "../database/sqlite/empty-log.ts";
import type { CommandContext } from "./command.ts";

/** Posts wait as long as this waits for a reader. */
const MAX_WAIT_MS = 1000;

/** After something was deleted for good: it must not be found in the write-ahead log either, or somebody is to know. */
export function clearLog({ output }: CommandContext, db: SqliteDatabase): void {
  db.pragma(`busy_timeout = ${MAX_WAIT_MS}`);
  if (emptyLog(db)) return;
  output.note(
    `${db.path}-wal may hold it for now, because another process is reading; a running server clears it within a minute of the end of that`,
  );
}
