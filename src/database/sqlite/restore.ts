import { closeSync, existsSync, openSync, readSync, realpathSync, renameSync, statSync } from "node:fs";
import { resolve } from "node:path";
import Driver from "better-sqlite3";
import { FormsvcError } from "../../foundation/errors.ts";
import { checkCopy, type CheckedCopy } from "./check-copy.ts";
import { refuseDifferences } from "./check-structure.ts";
import { translateDatabaseError } from "./database-error.ts";
import {
  LOG_SUFFIXES,
  keepUnder,
  moveIntoPlace,
  removeCopy,
  syncFile,
  syncFolderOf,
} from "./durable-file.ts";
import { copyToNewFile } from "./private-file.ts";
import { translateFileError } from "./file-error.ts";
import { findHolders } from "./lock-holders.ts";
import { lockServer } from "./server-lock.ts";

export interface Restored extends CheckedCopy {
  /** The new path of the replaced database, or of its log if only that was left; null if there was neither. */
  readonly replaced: string | null;
  /** Deliveries that will not be sent by themselves. */
  readonly heldDeliveries: number;
  /** Webhooks that were enabled in the backup and are now disabled. */
  readonly disabledWebhooks: number;
  /** Addresses that got e-mail in the backup, and get none now. */
  readonly disabledMailRecipients: number;
  /** Automatic replies that the backup has as not sent, and that nobody gets any more. */
  readonly droppedReplies: number;
}

type HeldBack = Pick<Restored, "heldDeliveries" | "disabledWebhooks" | "disabledMailRecipients">;

const NOTHING_HELD: HeldBack = { heldDeliveries: 0, disabledWebhooks: 0, disabledMailRecipients: 0 };

export interface RestoreOptions {
  /** Whether to hold the deliveries that are pending in the backup: they may have been sent since. */
  readonly holdWebhooks: boolean;
  /** ISO 8601, for the name of the replaced database. */
  readonly now: string;
}

/**
 * Replaces the database by a backup. All of the backup is checked first, on a copy of its own. Until the one rename at the end,
 * the database is as it was.
 *
 * @throws server_running; usage when there is no such backup; failed when the disk does not take it; database_unusable when it is not sound, has
 *   another structure than its version or is from a newer version; database_busy when another process has the database open.
 */
export function restoreBackup(backup: string, databasePath: string, options: RestoreOptions): Restored {
  const { source, database } = findBackup(backup, databasePath);
  const lock = lockServer(database, process.pid, options.now);
  const unfinished = `${database}.restore-${process.pid}`;
  try {
    copyPrivately(source, unfinished);
    const { differences, ...checked } = checkCopy(unfinished, source);
    refuseDifferences(differences, source);
    changeCopy(unfinished, source, signEverybodyOut);
    const droppedReplies = changeCopy(unfinished, source, dropReplies);
    const heldBack = options.holdWebhooks ? changeCopy(unfinished, source, holdDeliveries) : NOTHING_HELD;
    syncFile(unfinished);
    const replaced = setAside(database, options.now);
    moveIntoPlace(unfinished, database);
    return { ...checked, replaced, droppedReplies, ...heldBack };
  } catch (error) {
    throw translateFileError(error, database);
  } finally {
    removeCopy(unfinished);
    lock.release();
  }
}

/**
 * The backup, and the file that it would replace.
 *
 * @throws usage if one of them is no file, or both are the same; database_unusable if the backup is no database at all
 */
export function findBackup(backup: string, databasePath: string): { source: string; database: string } {
  const source = resolve(backup);
  // Through a symbolic link the file itself is replaced, not the link.
  const database = existsSync(databasePath) ? realpathSync(databasePath) : resolve(databasePath);
  if (!existsSync(source) || !statSync(source).isFile()) {
    throw new FormsvcError("usage", `${source}: there is no such file`);
  }
  if (existsSync(database) && !statSync(database).isFile()) {
    throw new FormsvcError("usage", `${database}: this is not a file`, {
      hint: { kind: "name_database" },
    });
  }
  if (source === database) throw new FormsvcError("usage", `${source}: this is the database itself`);
  if (!beginsLikeDatabase(source))
    throw new FormsvcError("database_unusable", `${source}: the file is not a formsvc database`);
  return { source, database };
}

const SIGNATURE = "SQLite format 3\0";

function beginsLikeDatabase(file: string): boolean {
  const descriptor = openSync(file, "r");
  try {
    const begun = Buffer.alloc(SIGNATURE.length);
    readSync(descriptor, begun);
    return begun.toString("latin1") === SIGNATURE;
  } finally {
    closeSync(descriptor);
  }
}

/** A write-ahead log beside the backup belongs to it: somebody copied a database by hand. */
function copyPrivately(source: string, target: string): void {
  removeCopy(target);
  for (const suffix of ["", "-wal"]) {
    if (!existsSync(`${source}${suffix}`)) continue;
    copyToNewFile(openSync(`${source}${suffix}`, "r"), `${target}${suffix}`);
  }
}

type HasTable = (name: string) => boolean;

/** Changes the copy, which may have the tables of an earlier version. @param shown the backup's name in messages. */
function changeCopy<Result>(
  file: string,
  shown: string,
  change: (connection: Driver.Database, has: HasTable) => Result,
): Result {
  const connection = new Driver(file, { timeout: 0 });
  try {
    const table = connection.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?");
    return change(connection, (name) => table.get(name) !== undefined);
  } catch (error) {
    throw translateDatabaseError(error, shown);
  } finally {
    connection.close();
  }
}

/** Sessions that have ended since the backup, and links that were used since then, must not come back. */
function signEverybodyOut(connection: Driver.Database, has: HasTable): void {
  if (has("session")) connection.exec("DELETE FROM session; DELETE FROM sign_in_link");
}

/** A reply that the backup has as waiting may have been sent since, and none is ever sent twice. */
function dropReplies(connection: Driver.Database, has: HasTable): number {
  if (!has("auto_reply")) return 0;
  const ofReplies = "recipient_id IN (SELECT id FROM auto_reply)";
  const queued = countQueued(connection, ofReplies);
  connection.exec(`DELETE FROM outbox WHERE ${ofReplies}`);
  const waiting = `state IN ('pending', 'sending') AND ${ofReplies}`;
  const failed = connection.prepare(
    `UPDATE delivery SET state = 'failed', claimed_at = NULL WHERE ${waiting}`,
  );
  return queued + failed.run().changes;
}

/** Earlier versions keep a webhook's state in one table with its address. */
const DISABLE_OLD_WEBHOOKS = "UPDATE webhook SET state = 'disabled' WHERE state = 'enabled'";
const DISABLE_RECIPIENTS = "UPDATE recipient SET state = 'disabled' WHERE state = 'enabled' AND id IN";

/**
 * Disables every webhook and every recipient of e-mail, and holds their pending deliveries: held deliveries of an enabled recipient
 * would be sent at the next start. They are sent when their recipient is enabled again, or one by one by a replay. Automatic
 * replies stay on: those that waited are dropped.
 */
function holdDeliveries(connection: Driver.Database, has: HasTable): HeldBack {
  if (!has("delivery")) return NOTHING_HELD;
  const change = (sql: string): number => connection.prepare(sql).run().changes;
  const disabledWebhooks = change(
    has("recipient") ? `${DISABLE_RECIPIENTS} (SELECT id FROM webhook)` : DISABLE_OLD_WEBHOOKS,
  );
  const disabledMailRecipients = has("mail_recipient")
    ? change(`${DISABLE_RECIPIENTS} (SELECT id FROM mail_recipient)`)
    : 0;
  const waiting = change(
    "UPDATE delivery SET state = 'held', claimed_at = NULL WHERE state IN ('pending', 'sending')",
  );
  // Messages in the outbox will be held too, because their recipients are disabled.
  const queued = has("outbox") ? countQueued(connection, "true") : 0;
  return { heldDeliveries: waiting + queued, disabledWebhooks, disabledMailRecipients };
}

function countQueued(connection: Driver.Database, which: string): number {
  const sum = `SELECT coalesce(sum(message_count), 0) FROM outbox WHERE ${which}`;
  return Number(connection.prepare(sum).pluck().get());
}

/**
 * Gives the database a second name, after closing it into one file: a log left beside its name would be taken for the restored
 * database's. A database that is damaged or gone is kept as it is, with its log.
 */
function setAside(database: string, now: string): string | null {
  const kept = freeName(`${database}.replaced-${now.replaceAll(":", "-")}`);
  if (!existsSync(database)) return moveLogs(database, kept)[0] ?? null;
  if (!closeCompletely(database)) moveLogs(database, kept);
  keepUnder(database, kept);
  return kept;
}

/** Their new names, durable. */
function moveLogs(database: string, kept: string): string[] {
  const moved = LOG_SUFFIXES.filter((suffix) => existsSync(`${database}${suffix}`)).map((suffix) => {
    renameSync(`${database}${suffix}`, `${kept}${suffix}`);
    return `${kept}${suffix}`;
  });
  syncFolderOf(database);
  return moved;
}

/** @returns false for a file that SQLite cannot read. @throws database_busy when another process has it open. */
function closeCompletely(database: string): boolean {
  let connection: Driver.Database | undefined;
  try {
    connection = new Driver(database, { timeout: 1000 });
    connection.pragma("journal_mode = DELETE");
    return true;
  } catch (error) {
    const foreseen = translateDatabaseError(error, database);
    if (foreseen instanceof FormsvcError && foreseen.code === "database_busy") {
      const holders =
        findHolders(database).join(", ") || "perhaps a tail that follows, Litestream, or a shell";
      throw new FormsvcError(
        "database_busy",
        `${database}: another process has it open; end that first: ${holders}`,
        { cause: error },
      );
    }
    return false;
  } finally {
    connection?.close();
  }
}

/** Neither it nor a log of its name is there. */
function freeName(base: string): string {
  const isTaken = (name: string): boolean =>
    ["", ...LOG_SUFFIXES].some((suffix) => existsSync(`${name}${suffix}`));
  let name = base;
  for (let attempt = 1; isTaken(name); attempt += 1) name = `${base}.${attempt}`;
  return name;
}
