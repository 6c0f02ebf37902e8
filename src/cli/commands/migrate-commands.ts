import { existsSync } from "node:fs";
import type { Command } from "commander";
import type { Config } from "../../config/config.ts";
import { COMMAND_BUSY_TIMEOUT_MS, openDatabase } from "../../database/sqlite/open-database.ts";
import {
  type MigrationStatus,
  migrationStatus,
  rehearseMigration,
  statusOfNewFile,
} from "../../database/migrate.ts";
import { addNoun, command, type CommandContext } from "../command.ts";
import { nameOf, openAddress, openForCommand, readConfig } from "../open.ts";

export function register(program: Command): void {
  addNoun(program, "migrate", "The database's schema version", [status, up]);
}

const status = command({
  usage: "status",
  summary: "Show which migrations the database has, and change nothing",
  action: async (context) => {
    const { database } = readConfig(context);
    const { version, latest, pending } = await lookAt(database, "status");
    if (context.output.isJson) return context.output.json({ version, latest, pending });
    context.output.line(`${version} of ${latest}`);
    if (version === 0) context.output.note(`${nameOf(database)}: no database yet`);
    return context.output.note(pending.length === 0 ? "up to date" : `to run: ${pending.join(", ")}`);
  },
});

const up = command({
  usage: "up",
  summary:
    "Upgrade the database to this program's version, after keeping a copy; every other command does so too",
  options: [{ flags: "--dry-run", summary: "try it and undo it, to see whether it would work" }],
  action: async (context, options) => {
    if (options.dryRun) return rehearse(context);
    const { db, migrated } = await openForCommand(readConfig(context), context.clock, {
      makes: true,
      besideServers: true,
    });
    await db.close();
    const { latest, pending, keptCopy } = migrated;
    if (context.output.isJson)
      return context.output.json({ version: latest, applied: pending, kept_copy: keptCopy });
    context.output.note(pending.length === 0 ? "up to date already" : `applied: ${pending.join(", ")}`);
    if (keptCopy !== null) context.output.note(`the database from before is ${keptCopy}`);
    return undefined;
  },
});

async function rehearse(context: CommandContext): Promise<void> {
  const { output } = context;
  const { database } = readConfig(context);
  const { version, latest, pending } = await lookAt(database, "rehearse");
  if (output.isJson) return output.json({ version, latest, pending, dry_run: true });
  if (version === 0) return output.note(`${nameOf(database)}: no database yet; it would be made`);
  return output.note(
    pending.length === 0 ? "up to date already" : `would apply: ${pending.join(", ")}; the result is sound`,
  );
}

/** Opens the database without creating it, because showing a status must not make a file. */
async function lookAt(
  { path, url }: Config["database"],
  how: "status" | "rehearse",
): Promise<MigrationStatus> {
  if (url !== null) return lookAtAddress(url, how);
  if (!existsSync(path)) return statusOfNewFile();
  const db = openDatabase(path, { busyTimeoutMs: COMMAND_BUSY_TIMEOUT_MS });
  try {
    return how === "status" ? migrationStatus(db) : rehearseMigration(db);
  } finally {
    db.close();
  }
}

async function lookAtAddress(url: string, how: "status" | "rehearse"): Promise<MigrationStatus> {
  const { postgresqlMigrationStatus, rehearsePostgresqlMigration } =
    await import("../../database/postgresql/migrate-postgresql.ts");
  const db = await openAddress(url);
  try {
    return await (how === "status" ? postgresqlMigrationStatus(db) : rehearsePostgresqlMigration(db));
  } finally {
    await db.close();
  }
}
