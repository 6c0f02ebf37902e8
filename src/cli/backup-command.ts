import type { Command } from "commander";
import { backUp } from "../database/sqlite/back-up.ts";
import type { CopyProgress } from "../database/sqlite/copy-database.ts";
import { addCommand, command } from "./command.ts";
import { readConfig } from "./open.ts";

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
    const made = await backUp(readConfig(context).database.path, file, {
      clock,
      onProgress: ({ copiedPages, totalPages }: CopyProgress) =>
        output.progress(`copied ${Math.floor((copiedPages / Math.max(1, totalPages)) * 100)} %`),
      onNote: (text) => output.note(text),
    });
    if (output.isJson) return output.json({ backup: made });
    return output.note(`${made.file}: ${made.submissions} submissions, ${made.bytes} bytes, verified`);
  },
});
