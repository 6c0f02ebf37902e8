import { copyFileSync, chmodSync, existsSync, realpathSync, renameSync, statSync } from "node:fs";
import { resolve } from "node:path";
import SqliteDatabase from "better-sqlite3";
import { FormsvcError } from "../foundation/errors.ts";
import { removeCopy } from "./backup-socket.ts";
import { checkCopy, type CheckedCopy } from "./check-copy.ts";
import { createPrivately } from "./database.ts";
import { translateDatabaseError } from "./database-error.ts";
import { giveToFolderOwner, keepUnder, moveIntoPlace, syncFile } from "./durable-file.ts";
import { translateFileError } from "./file-error.ts";
import { lockServer } from "./server-lock.ts";

export interface Restored extends CheckedCopy {
  /** Where the database from before lies now; null where there was none. */
  readonly replaced: string | null;
  /** Webhook deliveries that will not go out by themselves. */
  readonly heldDeliveries: number;
}

export interface RestoreOptions {
  /** Holds the deliveries that the backup has as not yet delivered: they may have gone out since. */
  readonly holdWebhooks: boolean;
  /** ISO 8601, for the name under which the database from before is kept. */
  readonly now: string;
}

/**
 * Puts a backup in the place of the database. All of it is checked beforehand on a copy of its own; until the one
 * rename at the end, the database is as it was.
 *
 * @throws server_running; usage when there is no such backup; failed when the disk does not take it; database_unusable when it is not sound or is from a newer
 *   version; database_busy when another process has the database open.
 */
export function restoreBackup(backup: string, databasePath: string, options: RestoreOptions): Restored {
  const source = resolve(backup);
  // Through a symbolic link the file itself is replaced, not the link.
  const database = existsSync(databasePath) ? realpathSync(databasePath) : resolve(databasePath);
  if (!existsSync(source) || !statSync(source).isFile()) {
    throw new FormsvcError("usage", `${source}: there is no such file`);
  }
  if (existsSync(database) && !statSync(database).isFile()) {
    throw new FormsvcError("usage", `${database}: this is not a file; name the database with --db`);
  }
  if (source === database) throw new FormsvcError("usage", `${source}: this is the database itself`);
  const lock = lockServer(database, process.pid, options.now);
  const unfinished = `${database}.restore-${process.pid}`;
  try {
    copyPrivately(source, unfinished);
    const checked = checkCopy(unfinished, source);
    const heldDeliveries = options.holdWebhooks ? holdDeliveries(unfinished, source) : 0;
    syncFile(unfinished);
    const replaced = existsSync(database) ? setAside(database, options.now) : null;
    moveIntoPlace(unfinished, database);
    return { ...checked, replaced, heldDeliveries };
  } catch (error) {
    throw translateFileError(error, database);
  } finally {
    removeCopy(unfinished);
    lock.release();
  }
}

/** A write-ahead log beside the backup belongs to it: someone copied a database by hand. */
function copyPrivately(source: string, target: string): void {
  removeCopy(target);
  for (const suffix of ["", "-wal"]) {
    if (!existsSync(`${source}${suffix}`)) continue;
    createPrivately(`${target}${suffix}`);
    copyFileSync(`${source}${suffix}`, `${target}${suffix}`);
    // Copying carries the backup's owner and mode over.
    chmodSync(`${target}${suffix}`, 0o600);
    giveToFolderOwner(`${target}${suffix}`);
  }
}

/**
 * Disables every webhook and holds what was about to go out: held deliveries of an enabled webhook would go out with the
 * next start. They go out when their webhook is enabled again, or one by one by a replay.
 */
function holdDeliveries(file: string, shown: string): number {
  const connection = new SqliteDatabase(file, { timeout: 0 });
  try {
    const has = connection.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?");
    if (has.get("delivery") === undefined) return 0;
    connection.exec("UPDATE webhook SET state = 'disabled' WHERE state = 'enabled'");
    return connection
      .prepare("UPDATE delivery SET state = 'held', claimed_at = NULL WHERE state IN ('pending', 'sending')")
      .run().changes;
  } catch (error) {
    throw translateDatabaseError(error, shown);
  } finally {
    connection.close();
  }
}

/**
 * Gives the database a second name, first as one closed file: a log left beside its name would be taken for the
 * restored one's. A damaged database is kept as it is, with its log.
 */
function setAside(database: string, now: string): string {
  const kept = freeName(`${database}.replaced-${now.replaceAll(":", "-")}`);
  if (!closeCompletely(database)) {
    for (const suffix of ["-wal", "-shm", "-journal"]) {
      if (existsSync(`${database}${suffix}`)) renameSync(`${database}${suffix}`, `${kept}${suffix}`);
    }
  }
  keepUnder(database, kept);
  return kept;
}

/** @returns false for a file that SQLite cannot read. @throws database_busy when another process has it open. */
function closeCompletely(database: string): boolean {
  let connection: SqliteDatabase.Database | undefined;
  try {
    connection = new SqliteDatabase(database, { timeout: 1000 });
    connection.pragma("journal_mode = DELETE");
    return true;
  } catch (error) {
    const foreseen = translateDatabaseError(error, database);
    if (foreseen instanceof FormsvcError && foreseen.code === "database_busy") {
      throw new FormsvcError(
        "database_busy",
        `${database}: another process has it open; end that first (a tail that follows, Litestream, or a shell)`,
        { cause: error },
      );
    }
    return false;
  } finally {
    connection?.close();
  }
}

function freeName(base: string): string {
  let name = base;
  for (let attempt = 1; existsSync(name); attempt += 1) name = `${base}.${attempt}`;
  return name;
}
