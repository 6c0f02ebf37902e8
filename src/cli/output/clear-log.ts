import type { AnyDatabase } from "../../database/any-database.ts";
import { emptyLog } from "../../database/sqlite/empty-log.ts";
import type { CommandContext } from "../command.ts";
import type { Here } from "./terminal.ts";
import type { Output } from "./output.ts";

/** The longest wait for a process that reads the database. Posts wait as long. */
const MAX_WAIT_MS = 1000;

/**
 * Called after a deletion for good. Removes the deleted content from the write-ahead log too, or says that it is still there. A server does
 * this itself.
 */
export function clearLog({ output }: CommandContext, here: Pick<Here, "db"> | null): void {
  if (here !== null) clearLogOf(here.db, output);
}

function clearLogOf(db: AnyDatabase, output: Output): void {
  if (db.engine === "postgresql") {
    output.note(
      "PostgreSQL keeps what was deleted or replaced on its disk until VACUUM, and in archives of its log as long as you keep them",
    );
    return;
  }
  db.pragma(`busy_timeout = ${MAX_WAIT_MS}`);
  if (emptyLog(db)) return;
  output.note(
    `${db.path}-wal may hold it for now, because another process is reading; a running server clears it within a minute of the end of that`,
  );
}
