import type Driver from "better-sqlite3";
import type { FormsvcError } from "../../foundation/errors.ts";
import type { ChangeListener, ChangeWatch, Database } from "../database.ts";
import type { Steps } from "../steps.ts";
import type { LogCopy } from "./copy-after-commit.ts";
import type { CopyProgress } from "./copy-database.ts";

export type PreparedStatement = Driver.Statement;

/**
 * One connection to a database file, for the parts that are written for SQLite: the way of a post, the claims of the outbox, and the
 * administration of the file. A driver call takes microseconds, so these parts do not wait: nothing else of this process comes between
 * their statements.
 */
export interface SqliteDatabase extends Database {
  readonly engine: "sqlite";
  /** The absolute path of the file. */
  readonly path: string;
  /**
   * Prepares a statement once, for code that runs often. It throws the driver's own errors, so run it inside {@link readNow},
   * {@link transactionNow} or steps.
   */
  prepare(sql: string): PreparedStatement;
  /** Runs steps at once: inside the open transaction, or else in a transaction of their own, in which they should only read. */
  now<Result>(work: () => Steps<Result>): Result;
  /** Runs statements that only read, and turns errors of the driver into ours. */
  readNow<Result>(work: () => Result): Result;
  /** Runs `work` in one `BEGIN IMMEDIATE` transaction, durable on disk when this returns. Never nested. */
  transactionNow<Result>(work: () => Result): Result;
  /** The same as {@link transactionNow}, without waiting for the disk, like {@link relaxedTransaction}. */
  relaxedTransactionNow<Result>(work: () => Result): Result;
  /** Runs plain SQL, one statement or several. */
  execute(sql: string): void;
  /** From when on the log is copied after commits of this connection. */
  readonly logCopy: LogCopy;
  /** The single value of a pragma. */
  pragma(source: string): unknown;
  /**
   * Copies the whole file, as it is at the end, into an empty or new one, a few pages in each turn of the event loop. This connection can
   * write meanwhile, and its writes are in the copy.
   *
   * @param onProgress called after each step with the number of pages copied; if it throws, the copy ends.
   * @throws database_busy if other processes write faster than the copy advances.
   */
  copyTo(file: string, onProgress: (progress: CopyProgress) => void): Promise<void>;
  /** Notices what other processes commit. */
  watch(listeners: readonly ChangeListener[]): ChangeWatch;
  /**
   * Resolves with the error when the disk failed to keep what was written to it. Everything is refused with it from then on, and the
   * connection must not be closed, which would copy the log into the file: the process has to end.
   */
  readonly lost: Promise<FormsvcError>;
  /** Tells that a sync of the file or its log failed that this connection did not make. */
  readonly reportLost: (cause: unknown) => void;
  close(): void;
}
