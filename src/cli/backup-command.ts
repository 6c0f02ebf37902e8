import { countOf } from "../foundation/count-of.ts";
import type { AnyDatabase } from "../database/any-database.ts";
import type { Command } from "commander";
import { copyToFile } from "../database/copy-database.ts";
import { type Backup, backUp } from "../database/sqlite/back-up.ts";
import type { CopyProgress } from "../database/sqlite/copy-database.ts";
import { addCommand, command, type CommandContext } from "./command.ts";
import { readConfig, withDatabase } from "./open.ts";

export function register(program: Command): void {
  addCommand(program, backup);
}

const backup = command({
  usage: "backup <file>",
  summary: "Make one verified copy of the database, also while it is served",
  examples: [
    "formsvc backup /var/backups/formsvc-$(date +%F).db",
    "formsvc backup --json nightly.db | jq .backup.submissions",
  ],
  action: async (context, _options, [file]) => {
    const { output, clock } = context;
    const { path, url } = readConfig(context).database;
    const made =
      url === null
        ? await backUp(path, file, {
            clock,
            onProgress: ({ copiedPages, totalPages }: CopyProgress) =>
              output.progress(`copied ${Math.floor((copiedPages / Math.max(1, totalPages)) * 100)} %`),
            onNote: (text) => output.note(text),
          })
        : await withDatabase(context, (db) => backUpToFile(context, db, file));
    if (output.isJson) return output.json({ backup: made });
    return output.note(
      `${made.file}: ${countOf(made.submissions, "submission")}, ${made.bytes} bytes, verified`,
    );
  },
});

/** One file with everything, which this program opens like any other. */
async function backUpToFile({ output }: CommandContext, db: AnyDatabase, target: string): Promise<Backup> {
  const made = await copyToFile(db, target, (rows) => output.progress(`copied ${countOf(rows, "row")}`));
  const submissions = made.tables.find(({ table }) => table === "submission")?.rows ?? 0;
  const { version, bytes } = made;
  return { version, submissions, file: made.to, bytes, by: "command" };
}
