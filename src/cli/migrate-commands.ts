import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Command } from "commander";
import { COMMAND_BUSY_TIMEOUT_MS, openDatabase } from "../database/sqlite/open-database.ts";
import type { SqliteDatabase } from "../database/sqlite/sqlite-database.ts";
import {
  type MigrationStatus,
  migrationStatus,
  rehearseMigration,
  statusOfNewFile,
} from "../database/migrate.ts";
import { addNoun, command, type CommandContext } from "./command.ts";
import { openForCommand, readConfig } from "./open.ts";

export function register(program: Command): void {
  addNoun(program, "migrate", "The database's schema version", [status, up]);
}

const status = command({
  usage: "status",
  summary: "Show which migrations the database has, and change nothing",
  action: (context) => {
    const { version, latest, pending } = lookAt(readConfig(context).database.path, (db) =>
      migrationStatus(db),
    );
    if (context.output.isJson) return context.output.json({ version, latest, pending });
    context.output.line(`${version} of ${latest}`);
    if (version === 0) context.output.note(`${resolve(readConfig(context).database.path)}: no database yet`);
    return context.output.note(pending.length === 0 ? "up to date" : `to run: ${pending.join(", ")}`);
  },
});

const up = command({
  usage: "up",
  summary:
    "Upgrade the database to this program's version, after keeping a copy; every other command does so too",
  options: [{ flags: "--dry-run", summary: "do it, see whether the result is sound, and take it back" }],
  action: (context, options) => {
    if (options.dryRun) return rehearse(context);
    const { db, migrated } = openForCommand(readConfig(context), context.clock);
    db.close();
    const { latest, pending, keptCopy } = migrated;
    if (context.output.isJson)
      return context.output.json({ version: latest, applied: pending, kept_copy: keptCopy });
    context.output.note(pending.length === 0 ? "up to date already" : `applied: ${pending.join(", ")}`);
    if (keptCopy !== null) context.output.note(`the database from before is ${keptCopy}`);
    return undefined;
  },
});

function rehearse(context: CommandContext): void {
  const { output } = context;
  const { path } = readConfig(context).database;
  const { version, latest, pending } = lookAt(path, rehearseMigration);
  if (output.isJson) return output.json({ version, latest, pending, dry_run: true });
  if (version === 0) return output.note(`${resolve(path)}: no database yet; it would be made`);
  return output.note(
    pending.length === 0 ? "up to date already" : `would apply: ${pending.join(", ")}; the result is sound`,
  );
}

/** Showing the status must not create the file. */
function lookAt(path: string, look: (db: SqliteDatabase) => MigrationStatus): MigrationStatus {
  if (!existsSync(path)) return statusOfNewFile();
  const db = openDatabase(path, { busyTimeoutMs: COMMAND_BUSY_TIMEOUT_MS });
  try {
    return look(db);
  } finally {
    db.close();
  }
}
