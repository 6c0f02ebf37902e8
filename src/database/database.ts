import { closeSync, existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import SqliteDatabase from "better-sqlite3";
import {
  DummyDriver,
  Kysely,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type Compilable,
} from "kysely";
import { FormsvcError } from "../foundation/errors.ts";
import { translateDatabaseError } from "./database-error.ts";
import { type CopyProgress, copyDatabase } from "./copy-database.ts";
import { openNewFile } from "./durable-file.ts";
import { checkFileOwner } from "./file-owner.ts";
import type { Tables } from "./tables.ts";

/**
 * Writes SQL with the tables' types and runs nothing: hand what it builds to a {@link Database}. One driver call is
 * synchronous and takes microseconds, so a promise around each would only let transactions interleave.
 */
export const query = new Kysely<Tables>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
});

/** Statements kept prepared for {@link Database.all} and its like; the oldest is dropped beyond this. */
const MAX_CACHED_STATEMENTS = 200;
/** How long a command waits for another process's write transaction. */
export const COMMAND_BUSY_TIMEOUT_MS = 10_000;

/**
 * Pages of 4 KiB in the write-ahead log before they are carried over into the file, which takes some 20 ms and holds up
 * the posts of that moment. With SQLite's own 1000 that met more than 1 post in 50 under full load, with 4000 fewer than
 * 1 in 100; the log grows to some 16 MB.
 */
const CHECKPOINT_PAGES = 4000;
/** What a long reader or a large change made the log grow to is given back once the log begins anew. */
const MAX_IDLE_LOG_BYTES = 67_108_864;

export type Statement = SqliteDatabase.Statement;

/**
 * One connection to the database file. Every method throws FormsvcError: `database_busy` where another process holds
 * the file, `database_unusable` where the disk or the file refuses.
 */
export interface Database {
  /** The absolute path of the file. */
  readonly path: string;
  all<Row>(built: Compilable<Row>): Row[];
  first<Row>(built: Compilable<Row>): Row | undefined;
  /** Runs a statement that returns no rows; the number of rows changed. */
  run(built: Compilable): number;
  /** A statement prepared once, for the hot path. It throws the driver's own errors: run it inside `read` or `transaction`. */
  prepare(sql: string): Statement;
  /** Runs statements that only read, with the driver's errors turned into ours. */
  read<Result>(work: () => Result): Result;
  /** Runs plain SQL, several statements at once where need be. */
  execute(sql: string): void;
  /** The single value of a pragma. */
  pragma(source: string): unknown;
  /**
   * Runs `work` in one `BEGIN IMMEDIATE` transaction, durable on disk when this returns; a throw rolls all of it back.
   * Never nested.
   */
  transaction<Result>(work: () => Result): Result;
  /**
   * Copies the whole file, as it is at the end, into an empty or new one, a few pages a turn of the event loop, so that
   * this connection's own writes go on meanwhile and are in the copy.
   *
   * @param onProgress called after each step with the pages copied; what it throws ends the copy.
   * @throws database_busy when other processes write faster than the copy gets on.
   */
  copyTo(file: string, onProgress: (progress: CopyProgress) => void): Promise<void>;
  /**
   * As {@link transaction}, without waiting for the disk: the end of the process loses nothing, a power cut may lose the
   * last of these and never what a transaction after them stored. For work that is done again when it is lost.
   */
  relaxedTransaction<Result>(work: () => Result): Result;
  close(): void;
}

export interface DatabaseOptions {
  /** Longest wait for another process's write transaction, in milliseconds; the whole process waits. */
  readonly busyTimeoutMs: number;
}

/**
 * Opens the file, creating it with mode 0600, and proves that its durability settings took. Runs no migration.
 *
 * @throws database_unusable when the file cannot be opened or is not formsvc's.
 */
export function openDatabase(path: string, options: DatabaseOptions): Database {
  const file = resolve(path);
  try {
    createPrivately(file);
    const connection = new SqliteDatabase(file, { timeout: options.busyTimeoutMs });
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
 * Makes an empty file with mode 0600 where there is none; SQLite gives the same mode to what it keeps beside it. A link
 * to a file is left for what it is; through one that leads nowhere no file is made.
 *
 * @throws database_unusable saying why it cannot be made.
 */
export function createPrivately(file: string): void {
  if (existsSync(file)) return;
  if (!existsSync(dirname(file))) {
    throw new FormsvcError("database_unusable", `${file}: its folder does not exist; create it first`);
  }
  try {
    closeSync(openNewFile(file));
  } catch (error) {
    // Another process was quicker.
    if (!existsSync(file)) throw error;
  }
}

/** Makes an empty file with mode 0600; false where there is a file of that name already. */
export function createExclusively(file: string): boolean {
  try {
    closeSync(openNewFile(file));
    return true;
  } catch (error) {
    const { cause } = error as { cause?: NodeJS.ErrnoException };
    if (cause?.code === "EEXIST") return false;
    throw error;
  }
}

/** The driver is compiled to run WAL at synchronous=NORMAL, which may lose acknowledged rows: FULL is set and proved. */
function setPragmas(connection: SqliteDatabase.Database, busyTimeoutMs: number): void {
  enterWal(connection, busyTimeoutMs);
  connection.pragma("synchronous = FULL");
  connection.pragma("foreign_keys = ON");
  connection.pragma("trusted_schema = OFF");
  connection.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
  connection.pragma(`journal_size_limit = ${MAX_IDLE_LOG_BYTES}`);
  // What is deleted is overwritten: an erased person must not be found in the file.
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

/** SQLite does not wait where two connections want to make a new file's first log: one of them is refused at once. */
function enterWal(connection: SqliteDatabase.Database, busyTimeoutMs: number): void {
  const endsAt = performance.now() + busyTimeoutMs;
  for (;;) {
    try {
      connection.pragma("journal_mode = WAL");
      return;
    } catch (error) {
      const isBusy = error instanceof SqliteDatabase.SqliteError && error.code.startsWith("SQLITE_BUSY");
      if (!isBusy || performance.now() >= endsAt) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAL_RETRY_MS);
    }
  }
}

function wrap(connection: SqliteDatabase.Database, path: string): Database {
  const statements = new Map<string, Statement>();
  const prepared = (sql: string): Statement => {
    let statement = statements.get(sql);
    if (statement === undefined) {
      statement = connection.prepare(sql);
      const oldest = statements.size >= MAX_CACHED_STATEMENTS ? statements.keys().next().value : undefined;
      if (oldest !== undefined) statements.delete(oldest);
      statements.set(sql, statement);
    }
    return statement;
  };
  // Made once: each is four functions.
  const transact = connection.transaction((work: () => unknown) => work());
  const guarded = <Result>(work: () => Result): Result => {
    try {
      return work();
    } catch (error) {
      throw translateDatabaseError(error, path);
    }
  };
  return {
    path,
    all: <Row>(built: Compilable<Row>) =>
      guarded(() => {
        const { sql, parameters } = built.compile();
        return prepared(sql).all(...parameters) as Row[];
      }),
    first: <Row>(built: Compilable<Row>) =>
      guarded(() => {
        const { sql, parameters } = built.compile();
        return prepared(sql).get(...parameters) as Row | undefined;
      }),
    run: (built) =>
      guarded(() => {
        const { sql, parameters } = built.compile();
        return prepared(sql).run(...parameters).changes;
      }),
    prepare: (sql) => connection.prepare(sql),
    read: guarded,
    execute: (sql) => void guarded(() => connection.exec(sql)),
    pragma: (source) => guarded(() => connection.pragma(source, { simple: true })),
    transaction: <Result>(work: () => Result) => guarded(() => transact.immediate(work) as Result),
    copyTo: (file, onProgress) => copyDatabase(connection, path, file, onProgress),
    relaxedTransaction: <Result>(work: () => Result) =>
      guarded(() => {
        connection.exec("PRAGMA synchronous = NORMAL");
        try {
          return transact.immediate(work) as Result;
        } finally {
          connection.exec("PRAGMA synchronous = FULL");
        }
      }),
    close: () => void connection.close(),
  };
}
