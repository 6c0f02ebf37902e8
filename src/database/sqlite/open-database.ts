import { resolve } from "node:path";
import Driver from "better-sqlite3";
import { BoundedMap } from "../../foundation/bounded-map.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { runSteps, type Statement as Step, type Steps } from "../steps.ts";
import { copyDatabase } from "./copy-database.ts";
import { isFull, translateDatabaseError } from "./database-error.ts";
import { copyAfterCommit, copyOnFullDisk, type LogCopy } from "./copy-after-commit.ts";
import { createDiskLoss } from "./disk-loss.ts";
import { checkFileOwner } from "./file-owner.ts";
import { watchName } from "./same-file.ts";
import { createPrivately } from "./private-file.ts";
import type { SqliteDatabase, PreparedStatement } from "./sqlite-database.ts";
import { watchChanges } from "./watch-changes.ts";

/** The largest number of statements of steps that stay prepared; beyond it the oldest is dropped. */
const MAX_CACHED_STATEMENTS = 200;
/** The longest time that a command waits for another process's write transaction. */
export const COMMAND_BUSY_TIMEOUT_MS = 10_000;

/**
 * The number of pages of 4 KiB in the write-ahead log at which they are copied into the file. That takes about 20 ms and delays the posts
 * of that moment. With SQLite's default of 1000 this delayed more than 1 post in 50 under full load, with 4000 fewer than 1 in 100. The log
 * grows to about 16 MB.
 */
export const CHECKPOINT_PAGES = 4000;
/** If a long reader or a large change made the log longer than this, it is cut to this size when it begins anew. */
const MAX_IDLE_LOG_BYTES = 67_108_864;

export interface DatabaseOptions {
  /** The longest wait for another process's write transaction, in milliseconds. The whole process waits meanwhile. */
  readonly busyTimeoutMs: number;
}

/**
 * Opens the file, or creates it with mode 0600, and checks that its durability settings are in force. Runs no migration.
 *
 * @throws database_unusable if the file cannot be opened or is not formsvc's.
 */
export function openDatabase(path: string, options: DatabaseOptions): SqliteDatabase {
  const file = resolve(path);
  try {
    createPrivately(file);
    const connection = new Driver(file, { timeout: options.busyTimeoutMs });
    try {
      checkFileOwner(connection);
      setPragmas(connection, options.busyTimeoutMs);
    } catch (error) {
      connection.close();
      throw error;
    }
    return wrap(connection, file);
  } catch (error) {
    throw translateDatabaseError(error, file);
  }
}

/**
 * Sets the pragmas and checks them. The driver is compiled to run WAL at synchronous=NORMAL, which may lose acknowledged rows, so FULL is
 * needed.
 */
function setPragmas(connection: Driver.Database, busyTimeoutMs: number): void {
  enterWal(connection, busyTimeoutMs);
  connection.pragma("synchronous = FULL");
  connection.pragma("foreign_keys = ON");
  connection.pragma("trusted_schema = OFF");
  connection.pragma(`journal_size_limit = ${MAX_IDLE_LOG_BYTES}`);
  // Overwrites deleted content, so that nothing of an erased person is left in the file.
  connection.pragma("secure_delete = ON");
  connection.prepare("SELECT count(*) FROM sqlite_schema").get();
  const expected = { journal_mode: "wal", synchronous: 2, foreign_keys: 1 };
  for (const [name, value] of Object.entries(expected)) {
    const actual = connection.pragma(name, { simple: true });
    if (actual !== value) {
      throw new FormsvcError(
        "database_unusable",
        `${connection.name}: ${name} is ${String(actual)} and must be ${value}`,
      );
    }
  }
}

const WAL_RETRY_MS = 5;

/** Switches to WAL, and tries again if that is refused: SQLite does not wait if two connections create the first log of a new file. */
function enterWal(connection: Driver.Database, busyTimeoutMs: number): void {
  const endsAt = performance.now() + busyTimeoutMs;
  for (;;) {
    try {
      connection.pragma("journal_mode = WAL");
      return;
    } catch (error) {
      const isBusy = error instanceof Driver.SqliteError && error.code.startsWith("SQLITE_BUSY");
      if (!isBusy || performance.now() >= endsAt) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAL_RETRY_MS);
    }
  }
}

function wrap(connection: Driver.Database, path: string): SqliteDatabase {
  const execute = createExecutor(connection);
  // Made once, because each such transaction consists of four functions.
  const transact = connection.transaction((work: () => unknown) => work());
  const loss = createDiskLoss(path);
  const logCopy: LogCopy = { fromFrames: CHECKPOINT_PAGES };
  const copyLog = copyAfterCommit(connection, logCopy, loss);
  const guarded = <Result>(work: () => Result): Result => {
    loss.refuse();
    try {
      return work();
    } catch (error) {
      const translated = loss.translate(error);
      if (isFull(error)) copyOnFullDisk(connection, loss);
      throw translated;
    }
  };
  const requireName = watchName(path);
  const { transactionNow, relaxedTransactionNow } = createTransactions(
    connection,
    transact,
    copyLog,
    (work) =>
      guarded(() => {
        requireName();
        return work();
      }),
  );
  const now = <Result>(work: () => Steps<Result>): Result => {
    const steps = work();
    const begun = steps.next();
    // Most posts find everything in memory and need no statement.
    if (begun.done === true) return begun.value;
    return connection.inTransaction
      ? runSteps(steps, execute, begun)
      : guarded(() => transact.deferred(() => runSteps(steps, execute, begun)) as Result);
  };
  const db: SqliteDatabase = {
    engine: "sqlite",
    name: path,
    path,
    read: async (work) => now(work),
    transaction: async (work) => transactionNow(() => runSteps(work(), execute)),
    relaxedTransaction: async (work) => relaxedTransactionNow(() => runSteps(work(), execute)),
    // Everything that can be read from a file is on the disk already.
    confirmReads: () => Promise.resolve(),
    watch: (listeners) => watchChanges(db, listeners),
    prepare: (sql) => connection.prepare(sql),
    now,
    readNow: guarded,
    transactionNow,
    relaxedTransactionNow,
    execute: (sql) =>
      guarded(() => {
        connection.exec(sql);
        if (!connection.inTransaction) copyLog();
      }),
    logCopy,
    pragma: (source) => guarded(() => connection.pragma(source, { simple: true })),
    copyTo: (file, onProgress) => copyDatabase(connection, path, file, onProgress),
    lost: loss.lost,
    reportLost: (cause) => loss.report(cause),
    close: () => void connection.close(),
  };
  return db;
}

type Transact = Driver.Transaction<(work: () => unknown) => unknown>;

/** Makes the two kinds of transactions that write. @param guarded runs one, after what has to be true before it */
function createTransactions(
  connection: Driver.Database,
  transact: Transact,
  copyLog: () => void,
  guarded: <Result>(work: () => Result) => Result,
) {
  const transactionNow = <Result>(work: () => Result): Result =>
    guarded(() => {
      const result = transact.immediate(work) as Result;
      copyLog();
      return result;
    });
  const relaxedTransactionNow = <Result>(work: () => Result): Result =>
    guarded(() => {
      connection.exec("PRAGMA synchronous = NORMAL");
      let result: Result;
      try {
        result = transact.immediate(work) as Result;
      } finally {
        connection.exec("PRAGMA synchronous = FULL");
      }
      copyLog();
      return result;
    });
  return { transactionNow, relaxedTransactionNow };
}

/** Returns a function that runs one step. The statement of each text is prepared once. */
function createExecutor(connection: Driver.Database): (step: Step) => unknown {
  const statements = new BoundedMap<string, PreparedStatement>(MAX_CACHED_STATEMENTS);
  const prepared = (sql: string): PreparedStatement => {
    let statement = statements.get(sql);
    if (statement === undefined) {
      statement = connection.prepare(sql);
      statements.set(sql, statement);
    }
    return statement;
  };
  return ({ gives, built }) => {
    const { sql, parameters } = built.compile();
    const statement = prepared(sql);
    if (gives === "rows") return statement.all(...parameters);
    return gives === "row" ? statement.get(...parameters) : statement.run(...parameters).changes;
  };
}
