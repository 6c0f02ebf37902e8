import {
  closeSync,
  existsSync,
  linkSync,
  lstatSync,
  openSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { resolve } from "node:path";
import Driver from "better-sqlite3";
import { FormsvcError } from "../../foundation/errors.ts";
import { checkCopy, type CheckedCopy } from "./check-copy.ts";
import { refuseDifferences } from "./check-structure.ts";
import { translateDatabaseError } from "./database-error.ts";
import { LOG_SUFFIXES, moveIntoPlace, removeCopy, syncFile, syncFolderOf } from "./durable-file.ts";
import { copyToNewFile, openPlainFile } from "./private-file.ts";
import { translateFileError } from "./file-error.ts";
import { findHolders } from "./lock-holders.ts";
import { lockServer } from "./server-lock.ts";
import { REPLACED, undoUnfinishedRestore } from "./unfinished-restore.ts";

export interface Restored extends CheckedCopy {
  /** The new path of the replaced database, or of its log if only that existed; null if neither did. */
  readonly replaced: string | null;
  /** The number of deliveries that will not be sent by themselves. */
  readonly heldDeliveries: number;
  /** The number of webhooks that were enabled in the backup and are disabled now. */
  readonly disabledWebhooks: number;
  /** The number of addresses that got e-mail in the backup and get none now. */
  readonly disabledMailRecipients: number;
  /** The number of automatic replies that were not yet sent in the backup, and that will never be sent. */
  readonly droppedReplies: number;
}

type HeldBack = Pick<Restored, "heldDeliveries" | "disabledWebhooks" | "disabledMailRecipients">;

const NOTHING_HELD: HeldBack = { heldDeliveries: 0, disabledWebhooks: 0, disabledMailRecipients: 0 };

export interface RestoreOptions {
  /** Whether to hold the deliveries that are pending in the backup, because they may have been sent since. */
  readonly holdWebhooks: boolean;
  /** The time in ISO 8601, for the name of the replaced database. */
  readonly now: string;
}

/**
 * Replaces the database by a backup. First a copy of the whole backup is checked. Until the single rename at the end, the database is as it
 * was.
 *
 * @throws server_running; usage if there is no such backup; failed if the disk cannot take it; database_unusable if it is not sound,
 * has another structure than its version or is from a newer version; database_busy if another process has the database open.
 */
export function restoreBackup(backup: string, databasePath: string, options: RestoreOptions): Restored {
  const { source, database } = findBackup(backup, databasePath);
  const lock = lockServer(database, process.pid, options.now);
  const unfinished = `${database}.restore-${process.pid}`;
  try {
    undoUnfinishedRestore(database);
    copyPrivately(source, unfinished);
    const { differences, ...checked } = checkCopy(unfinished, source);
    refuseDifferences(differences, source);
    changeCopy(unfinished, source, signEverybodyOut);
    const droppedReplies = changeCopy(unfinished, source, dropReplies);
    const heldBack = options.holdWebhooks ? changeCopy(unfinished, source, holdDeliveries) : NOTHING_HELD;
    syncFile(unfinished);
    const replaced = replace(database, unfinished, options.now);
    return { ...checked, replaced, droppedReplies, ...heldBack };
  } catch (error) {
    throw translateFileError(error, database);
  } finally {
    removeCopy(unfinished);
    lock.release();
  }
}

/** Puts the checked copy in the place of the database. @returns {@link Restored.replaced} */
function replace(database: string, copy: string, now: string): string | null {
  const aside = setAside(database, now);
  try {
    moveIntoPlace(copy, database);
    return aside.kept;
  } finally {
    aside.release();
    // Does nothing if the database was replaced.
    undoUnfinishedRestore(database);
  }
}

/**
 * Finds the backup, and the file that it would replace.
 *
 * @throws usage if one of them is not a file, or both are the same; database_unusable if the backup is not a database
 */
export function findBackup(backup: string, databasePath: string): { source: string; database: string } {
  const source = resolve(backup);
  // If the path is a symbolic link, the file is replaced and not the link.
  const database = existsSync(databasePath) ? realpathSync(databasePath) : resolve(databasePath);
  if (!existsSync(source) || !statSync(source).isFile()) {
    throw new FormsvcError("usage", `${source}: there is no such file`);
  }
  if (!existsSync(database) && lstatSync(database, { throwIfNoEntry: false }) !== undefined) {
    const why =
      "this is a link that leads nowhere, perhaps to a disk that is not mounted; remove it, or mount that";
    throw new FormsvcError("usage", `${database}: ${why}`);
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

/** Copies the backup, with a write-ahead log beside it: if there is one, somebody copied a database by hand, and the log belongs to it. */
function copyPrivately(source: string, target: string): void {
  removeCopy(target);
  for (const suffix of ["", "-wal"]) {
    if (!existsSync(`${source}${suffix}`)) continue;
    const from = `${source}${suffix}`;
    // A pipe beside the backup would be waited for.
    copyToNewFile(suffix === "" ? openSync(from, "r") : openPlainFile(from), `${target}${suffix}`);
  }
}

type HasTable = (name: string) => boolean;

/** Changes the copy, which may have the tables of an earlier version. @param shown the name of the backup in messages. */
function changeCopy<Result>(
  file: string,
  shown: string,
  change: (connection: Driver.Database, has: HasTable) => Result,
): Result {
  const connection = new Driver(file, { timeout: 0 });
  try {
    connection.pragma("trusted_schema = OFF");
    const table = connection.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?");
    return change(connection, (name) => table.get(name) !== undefined);
  } catch (error) {
    throw translateDatabaseError(error, shown);
  } finally {
    connection.close();
  }
}

/** Deletes sessions and sign-in links: those that ended or were used since the backup must not become valid again. */
function signEverybodyOut(connection: Driver.Database, has: HasTable): void {
  if (has("session")) connection.exec("DELETE FROM session; DELETE FROM sign_in_link");
}

/**
 * Drops automatic replies that are waiting in the backup, because they may have been sent since, and none may be sent twice. Returns the
 * number dropped.
 */
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

/** For earlier versions, in which the table with the address of a webhook also has its state. */
const DISABLE_OLD_WEBHOOKS = "UPDATE webhook SET state = 'disabled' WHERE state = 'enabled'";
const DISABLE_RECIPIENTS = "UPDATE recipient SET state = 'disabled' WHERE state = 'enabled' AND id IN";

/**
 * Disables every webhook and every recipient of e-mail, and holds their pending deliveries. If the recipients stayed enabled, held
 * deliveries would be sent at the next start. They are sent when their recipient is enabled again, or one by one by a replay. Automatic
 * replies stay on; those that waited are dropped.
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
  // Messages in the outbox count too, because they will be held: their recipients are disabled.
  const queued = has("outbox") ? countQueued(connection, "true") : 0;
  return { heldDeliveries: waiting + queued, disabledWebhooks, disabledMailRecipients };
}

function countQueued(connection: Driver.Database, which: string): number {
  const sum = `SELECT coalesce(sum(message_count), 0) FROM outbox WHERE ${which}`;
  return Number(connection.prepare(sum).pluck().get());
}

/** A database that is kept under a second name. Nobody else can use it until it is released. */
interface SetAside {
  /** The second name, or that of its log if only that existed; null if neither did. */
  readonly kept: string | null;
  readonly release: () => void;
}

/**
 * Gives the database a second name, after closing it into one file: a log left under the old name would be taken for that of the restored
 * database. A database that is damaged or missing is kept as it is, with its log. Until the log is removed, the database is whole under its
 * own name; from then on {@link undoUnfinishedRestore} makes it so again.
 */
function setAside(database: string, now: string): SetAside {
  const kept = freeName(`${database}${REPLACED}${now.replaceAll(":", "-")}`);
  if (!existsSync(database)) return { kept: moveLogs(database, kept)[0] ?? null, release: () => {} };
  const closed = closeCompletely(database);
  try {
    const logs = closed.isWhole ? [] : logsOf(database);
    for (const suffix of logs) keepUnder(`${database}${suffix}`, `${kept}${suffix}`);
    keepUnder(database, kept);
    syncFolderOf(database);
    for (const suffix of logs) rmSync(`${database}${suffix}`);
    syncFolderOf(database);
  } catch (error) {
    closed.release();
    undoUnfinishedRestore(database);
    throw error;
  }
  return { kept, release: closed.release };
}

function logsOf(database: string): string[] {
  return LOG_SUFFIXES.filter((suffix) => existsSync(`${database}${suffix}`));
}

/** Renames the logs of a missing database, durably. Returns their new paths. */
function moveLogs(database: string, kept: string): string[] {
  const moved = logsOf(database).map((suffix) => {
    renameSync(`${database}${suffix}`, `${kept}${suffix}`);
    return `${kept}${suffix}`;
  });
  syncFolderOf(database);
  return moved;
}

/**
 * Gives a file a second name, so that it can be replaced later without being missing for a moment. If links are not possible, it is
 * copied.
 */
function keepUnder(file: string, kept: string): void {
  try {
    linkSync(file, kept);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") throw error;
    const unfinished = `${kept}.unfinished-${process.pid}`;
    try {
      copyToNewFile(openSync(file, "r"), unfinished);
      syncFile(unfinished);
      renameSync(unfinished, kept);
    } finally {
      rmSync(unfinished, { force: true });
    }
  }
}

interface Closed {
  /** Whether everything is in the one file; false for a file that SQLite cannot read. */
  readonly isWhole: boolean;
  readonly release: () => void;
}

/**
 * Closes the database into one file, and keeps everybody else out of it until it is released: a log that another process began now would
 * be taken for that of the restored database.
 *
 * @throws database_busy if another process has it open
 */
function closeCompletely(database: string): Closed {
  let connection: Driver.Database | undefined;
  const release = (): void => void connection?.close();
  try {
    connection = new Driver(database, { timeout: 1000 });
    connection.pragma("locking_mode = EXCLUSIVE");
    connection.pragma("journal_mode = DELETE");
    connection.exec("BEGIN EXCLUSIVE");
    // Windows puts no file in the place of an open one.
    if (process.platform === "win32") release();
    return { isWhole: true, release };
  } catch (error) {
    release();
    refuseBusy(database, translateDatabaseError(error, database));
    return { isWhole: false, release };
  }
}

/** @throws database_busy naming the processes that have the database open, if that is the error */
function refuseBusy(database: string, error: unknown): void {
  if (!(error instanceof FormsvcError) || error.code !== "database_busy") return;
  const holders = findHolders(database).join(", ") || "perhaps a tail that follows, Litestream, or a shell";
  const message = `${database}: another process has it open; end that first: ${holders}`;
  throw new FormsvcError("database_busy", message, { cause: error });
}

/** A name that neither a file nor one of its logs has. */
function freeName(base: string): string {
  const isTaken = (name: string): boolean =>
    ["", ...LOG_SUFFIXES].some((suffix) => existsSync(`${name}${suffix}`));
  let name = base;
  for (let attempt = 1; isTaken(name); attempt += 1) name = `${base}.${attempt}`;
  return name;
}
