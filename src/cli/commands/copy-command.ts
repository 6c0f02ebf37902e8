import type { AnyDatabase } from "../../database/any-database.ts";
import type { Command } from "commander";
import { copyToFile, copyToPostgresql, type MadeCopy } from "../../database/copy-database.ts";
import { requireStructure } from "../../database/sqlite/check-structure.ts";
import type { Config } from "../../config/config.ts";
import { isDatabaseAddress, parseDatabaseAddress } from "../../database/postgresql/address.ts";
import { countOf } from "../../foundation/count-of.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { addCommand, command, type CommandContext, parseFile } from "../command.ts";
import { openAddress, readConfig, withDatabase } from "../open.ts";
import { countObjects } from "../../files/file-store.ts";
import { noteOutside } from "../output/note-outside.ts";

export function register(program: Command): void {
  addCommand(program, copy);
}

const copy = command({
  usage: "copy",
  summary: "Copy the whole database into a new file or an empty PostgreSQL database, and compare both",
  options: [
    {
      flags: "--to <database>",
      summary: "the new file, or the address of the PostgreSQL database",
      parse: parseFile,
      required: true,
    },
  ],
  examples: [
    "formsvc copy --to postgresql://formsvc:SECRET@db.example:5432/formsvc",
    "formsvc copy --db postgresql://formsvc:SECRET@db.example:5432/formsvc --to back.db",
  ],
  action: (context, options) => {
    refuseItself(readConfig(context).database, options.to);
    return withDatabase(context, async (db) => {
      const { output } = context;
      // A view in the place of a table would be copied as if its rows had been stored.
      if (db.engine === "sqlite") requireStructure(db, db.path);
      const made = await copyTo(context, db, options.to);
      const rows = made.tables.reduce((sum, each) => sum + each.rows, 0);
      const submissions = made.tables.find(({ table }) => table === "submission")?.rows ?? 0;
      if (output.isJson) {
        const tables = Object.fromEntries(made.tables.map((each) => [each.table, each.rows]));
        return output.json({ tables });
      }
      noteOutside(output, await db.read(countObjects));
      output.note(
        `${made.to}: ${countOf(submissions, "submission")}, ${countOf(rows, "row")} in all, compared`,
      );
      return output.note(
        "what a server takes from now on is not in it: before a move, stop the server first",
      );
    });
  },
});

/**
 * Refuses to copy a database into itself: if the new database's address is already exported for later commands, this command would copy
 * that empty database.
 */
function refuseItself({ url }: Config["database"], target: string): void {
  if (url === null || !isDatabaseAddress(target)) return;
  const { shown } = parseDatabaseAddress(target);
  if (parseDatabaseAddress(url).shown === shown)
    throw new FormsvcError(
      "usage",
      `${shown}: a copy of this database into itself; name the one to copy with --db`,
    );
}

async function copyTo({ output }: CommandContext, from: AnyDatabase, target: string): Promise<MadeCopy> {
  const report = (rows: number): void => output.progress(`copied ${countOf(rows, "row")}`);
  try {
    if (!isDatabaseAddress(target)) return await copyToFile(from, target, report);
    const to = await openAddress(target);
    try {
      return await copyToPostgresql(from, to, report);
    } finally {
      await to.close();
    }
  } catch (error) {
    throw asUnusable(error);
  }
}

/** Turns the error into `database_unusable`: a target that holds data is a database that this command cannot use. */
function asUnusable(error: unknown): unknown {
  if (!(error instanceof FormsvcError) || error.code !== "already_exists") return error;
  return new FormsvcError("database_unusable", error.message, { cause: error });
}
