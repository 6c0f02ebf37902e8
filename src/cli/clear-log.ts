import type { AnyDatabase } from "../database/any-database.ts";
import { emptyLog } from "../database/sqlite/empty-log.ts";
import type { CommandContext } from "./command.ts";
import type { Here } from "./terminal.ts";
import type { Output } from "./output.ts";

/** Longest wait for a reader; posts wait as long. */
const MAX_WAIT_MS = 1000;

/** After a deletion for good: removes the content from the write-ahead log too, or says that it is still there. A server does it itself. */
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
