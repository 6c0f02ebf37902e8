import { resolve } from "node:path";
import { openMigrated } from "../app/open-migrated.ts";
import type { Config } from "../config/config.ts";
import type { AnyDatabase } from "../database/any-database.ts";
import type { MigrationResult } from "../database/migrate.ts";
import { requireStructure } from "../database/sqlite/check-structure.ts";
import { emptyLeftLog } from "../database/sqlite/empty-log.ts";
import { COMMAND_BUSY_TIMEOUT_MS } from "../database/sqlite/open-database.ts";
import { lockServer } from "../database/sqlite/server-lock.ts";
import { undoUnfinishedRestore } from "../database/sqlite/unfinished-restore.ts";
import { proveWritable } from "../database/sqlite/write-probe.ts";
import { type Clock, toIsoTime } from "../foundation/clock.ts";
import { databaseCreated, databaseMigrated, restoreUndone } from "../foundation/events.ts";
import type { Log } from "../foundation/log.ts";
import { openAddress } from "./open.ts";

/** How long a server repeats a transaction that conflicts with others. */
const PATIENCE_MS = 10_000;
/** If the database does not answer for this time, the caller gets an error and the connection is replaced. */
const ANSWER_TIMEOUT_MS = 10_000;

type Serve = (db: AnyDatabase) => Promise<void>;

/**
 * Opens the database of a server for as long as `serve` runs. It is migrated and can be written.
 *
 * @throws server_running if another server owns the file, or servers of an older version share the database
 */
export async function withServedDatabase(
  config: Config,
  clock: Clock,
  log: Log,
  serve: Serve,
): Promise<void> {
  const { path, url, poolSize } = config.database;
  if (url === null) return serveFile(config, resolve(path), { clock, log }, serve);
  const { openPostgresql } = await import("../database/postgresql/open-postgresql.ts");
  await migrateAddress(url, log);
  const db = await openPostgresql(url, {
    connections: poolSize,
    patienceMs: PATIENCE_MS,
    answerTimeoutMs: ANSWER_TIMEOUT_MS,
  });
  try {
    await serve(db);
  } finally {
    await db.close();
  }
}

/** Migrates over connections like those of a command, which wait for an answer as long as it takes. */
async function migrateAddress(url: string, log: Log): Promise<void> {
  const { migratePostgresql } = await import("../database/postgresql/migrate-postgresql.ts");
  const db = await openAddress(url);
  try {
    logMigration(log, db.name, { ...(await migratePostgresql(db)), keptCopy: null });
  } finally {
    await db.close();
  }
}

async function serveFile(
  config: Config,
  file: string,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
  serve: Serve,
): Promise<void> {
  const lock = lockServer(file, process.pid, toIsoTime(clock.now()));
  try {
    if (undoUnfinishedRestore(file)) restoreUndone(log, file);
    const { db, migrated } = openMigrated(config, COMMAND_BUSY_TIMEOUT_MS);
    try {
      logMigration(log, db.path, migrated);
      db.readNow(() => requireStructure(db, db.path));
      emptyLeftLog(db);
      proveWritable(db);
      await serve(db);
    } finally {
      db.close();
    }
  } finally {
    lock.release();
  }
}

function logMigration(log: Log, database: string, { version, pending, keptCopy }: MigrationResult): void {
  if (version === 0) databaseCreated(log, database);
  else if (pending.length > 0) databaseMigrated(log, { applied: pending, keptCopy });
}
