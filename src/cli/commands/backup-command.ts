import { countOf } from "../../foundation/count-of.ts";
import type { AnyDatabase } from "../../database/any-database.ts";
import type { Command } from "commander";
import { copyToFile } from "../../database/copy-database.ts";
import { type Backup, backUp } from "../../database/sqlite/back-up.ts";
import type { CopyProgress } from "../../database/sqlite/copy-database.ts";
import { addCommand, command, type CommandContext } from "../command.ts";
import { readConfig, withDatabase } from "../open.ts";
import { noteOutside } from "../output/note-outside.ts";

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
  options: [
    {
      flags: "--without-files",
      summary: "leave out the bytes of uploaded files; their names and sizes stay",
    },
  ],
  action: async (context, { withoutFiles }, [file]) => {
    const { output, clock } = context;
    const { path, url } = readConfig(context).database;
    const made =
      url === null
        ? await backUp(path, file, {
            clock,
            onProgress: ({ copiedPages, totalPages }: CopyProgress) =>
              output.progress(`copied ${Math.floor((copiedPages / Math.max(1, totalPages)) * 100)} %`),
            onNote: (text) => output.note(text),
            isWithoutFiles: withoutFiles,
          })
        : await withDatabase(context, (db) => backUpToFile(context, db, file, withoutFiles));
    if (output.isJson) {
      const { leftOutFiles, outsideFiles, ...rest } = made;
      const backedUp = {
        ...rest,
        ...(leftOutFiles !== undefined && { left_out_files: leftOutFiles }),
        ...(outsideFiles > 0 && { outside_files: outsideFiles }),
      };
      return output.json({ backup: backedUp });
    }
    const leftOut =
      made.leftOutFiles === undefined
        ? ""
        : `, without the bytes of ${countOf(made.leftOutFiles, "file")} (--without-files)`;
    noteOutside(output, made.outsideFiles);
    return output.note(
      `${made.file}: ${countOf(made.submissions, "submission")}, ${made.bytes} bytes, verified${leftOut}`,
    );
  },
});

/** Writes one file with the whole database, which this program opens like any other. */
async function backUpToFile(
  { output }: CommandContext,
  db: AnyDatabase,
  target: string,
  isWithoutFiles: boolean,
): Promise<Backup> {
  const onProgress = (rows: number): void => output.progress(`copied ${countOf(rows, "row")}`);
  const made = await copyToFile(db, target, onProgress, isWithoutFiles);
  const submissions = made.tables.find(({ table }) => table === "submission")?.rows ?? 0;
  const { version, bytes, leftOutFiles, outsideFiles } = made;
  const backedUp = { version, submissions, outsideFiles, file: made.to, bytes, by: "command" } as const;
  return leftOutFiles === undefined ? backedUp : { ...backedUp, leftOutFiles };
}
