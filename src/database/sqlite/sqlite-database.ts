import type Driver from "better-sqlite3";
import type { ChangeListener, ChangeWatch, Database } from "../database.ts";
import type { Steps } from "../steps.ts";
import type { CopyProgress } from "./copy-database.ts";

export type PreparedStatement = Driver.Statement;

/**
 * One connection to a database file, for the parts that are written for SQLite: the way of a post, the claims of the
 * outbox, and what administers the file. A driver call takes microseconds, so these parts do not wait: nothing of this
 * process comes between their statements.
 */
export interface SqliteDatabase extends Database {
  readonly engine: "sqlite";
  /** The absolute path of the file. */
  readonly path: string;
  /**
   * A statement prepared once, for the hot path. It throws the driver's own errors: run it inside
   * {@link readNow}, {@link transactionNow} or steps.
   */
  prepare(sql: string): PreparedStatement;
  /** Runs steps at once: inside the transaction that is open, or else in one of their own, which should only read. */
  now<Result>(work: () => Steps<Result>): Result;
  /** Runs statements that only read, with the driver's errors turned into ours. */
  readNow<Result>(work: () => Result): Result;
  /** Runs `work` in one `BEGIN IMMEDIATE` transaction, durable on disk when this returns. Never nested. */
  transactionNow<Result>(work: () => Result): Result;
  /** As {@link transactionNow}, without waiting for the disk, like {@link relaxedTransaction}. */
  relaxedTransactionNow<Result>(work: () => Result): Result;
  /** Runs plain SQL, one statement or several. */
  execute(sql: string): void;
  /** The single value of a pragma. */
  pragma(source: string): unknown;
  /**
   * Copies the whole file, as it is at the end, into an empty or new one, a few pages in each turn of the event loop. This
   * connection's own writes continue meanwhile and are in the copy.
   *
   * @param onProgress called after each step with the pages copied; if it throws, the copy ends.
   * @throws database_busy if other processes write faster than the copy advances.
   */
  copyTo(file: string, onProgress: (progress: CopyProgress) => void): Promise<void>;
  /** Notices what other processes commit. */
  watch(listeners: readonly ChangeListener[]): ChangeWatch;
  close(): void;
}
