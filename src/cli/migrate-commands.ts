import { existsSync } from "node:fs";
import type { Command } from "commander";
import { openMigrated } from "../app.ts";
import { COMMAND_BUSY_TIMEOUT_MS, openDatabase } from "../database/database.ts";
import { type MigrationStatus, migrationStatus, statusOfNewFile } from "../database/migrate.ts";
import { addNoun, type CommandSpec } from "./command.ts";
import { readConfig } from "./open.ts";

export function register(program: Command): void {
  addNoun(program, "migrate", "The database's schema version", [status, up]);
}

const status: CommandSpec = {
  usage: "status",
  summary: "Show which migrations the database has, and change nothing",
  action: (context) => {
    const { version, latest, pending } = readStatus(readConfig(context).database.path);
    if (context.output.isJson) return context.output.json({ version, latest, pending });
    context.output.line(`${version} of ${latest}`);
    return context.output.note(pending.length === 0 ? "up to date" : `to run: ${pending.join(", ")}`);
  },
};

const up: CommandSpec = {
  usage: "up",
  summary:
    "Bring the database to this program's version, after keeping a copy; every other command does so too",
  action: (context) => {
    const { db, migrated } = openMigrated(readConfig(context), COMMAND_BUSY_TIMEOUT_MS);
    db.close();
    const { latest, pending, keptCopy } = migrated;
    if (context.output.isJson)
      return context.output.json({ version: latest, applied: pending, kept_copy: keptCopy });
    context.output.note(pending.length === 0 ? "up to date already" : `applied: ${pending.join(", ")}`);
    if (keptCopy !== null) context.output.note(`the database from before is ${keptCopy}`);
    return undefined;
  },
};

/** Looking must not make the file. */
function readStatus(path: string): MigrationStatus {
  if (!existsSync(path)) return statusOfNewFile();
  const db = openDatabase(path, { busyTimeoutMs: COMMAND_BUSY_TIMEOUT_MS });
  try {
    return migrationStatus(db);
  } finally {
    db.close();
  }
}
