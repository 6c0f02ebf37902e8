import type { MaybeLater } from "../foundation/maybe-later.ts";
import { DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from "kysely";
import type { ChangedSettings } from "./settings-version.ts";
import type { Steps } from "./steps.ts";
import type { Tables } from "./tables.generated.ts";

/**
 * Builds SQL with the types of the tables, and runs nothing: pass the result to a {@link Database}. One driver call is synchronous and
 * takes microseconds, so a promise around each would only let transactions interleave.
 */
export const query = new Kysely<Tables>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
});

/**
 * The database that all features work with, on either engine. Every method throws FormsvcError: `database_busy` if another process holds
 * the database, `database_unusable` if the disk or the database refuses.
 */
export interface Database {
  readonly engine: "sqlite" | "postgresql";
  /** The name of the database in messages: the absolute path of the file, or the address without its password. */
  readonly name: string;
  /**
   * Runs steps that only read. All of them see the same state of the database.
   *
   * @param gone aborted when nobody waits for the result any more. PostgreSQL then cancels the statement, and the reason of the signal is
   * thrown.
   * On SQLite a statement runs to its end.
   */
  read<Result>(work: () => Steps<Result>, gone?: AbortSignal): Promise<Result>;
  /**
   * Runs steps in one transaction. When the promise resolves, all changes are durable, and so is everything that was read. If the steps
   * throw, all changes are rolled back. No other transaction comes between the steps.
   */
  transaction<Result>(work: () => Steps<Result>): Promise<Result>;
  /**
   * The same as {@link transaction}, without waiting for the disk. If the process ends, nothing is lost. A power cut may lose the last of
   * these transactions, unless a durable one followed. Use it for work that is done again if it is lost.
   */
  relaxedTransaction<Result>(work: () => Steps<Result>): Promise<Result>;
  /**
   * Resolves when everything that was read before is as durable as a change by {@link transaction}. Call it before an answer says that
   * something is stored which was only read: if somebody ended a commit's wait for a synchronous standby, PostgreSQL shows rows that the
   * standby does not have. Parallel calls share one commit.
   */
  confirmReads(): Promise<void>;
  close(): MaybeLater<void>;
}

export interface ChangeListener {
  /** Called when another process committed anything. On PostgreSQL only {@link Head}s are called. */
  onForeignCommit(): void;
  /** Called when settings changed. @param changed what the changes are about */
  onSettingsChange(changed: ChangedSettings): void;
  /** Called once when a newer version of the program changed the schema; nothing else is called after it. */
  onUpgrade(): void;
}

/** A value that changes with the commits of other processes, for an engine that does not say whether there was any commit. */
export interface Head {
  /** An expression in PostgreSQL's SQL for the value. It must be cheap, however large the tables are. */
  readonly sql: string;
  /** Called when the value has changed. */
  readonly onChange: () => void;
  /** Whether it is also called at once when another server sends a notification. */
  readonly isNotified?: boolean;
}

/**
 * Why a server cannot know whether a key is still valid. `upgraded`: another process has upgraded the database, and this program does not
 * fit it any more. `unheard`: the database has not answered for a second.
 */
export type Blindness = "upgraded" | "unheard";

/** Notices other processes' commits. */
export interface ChangeWatch {
  /** Call it before each request. On SQLite it looks at the file, at most every 200 ms; a look costs two microseconds. */
  readonly noticeChanges: () => void;
  /**
   * Call it after a change by this process: it looks at once at which settings changed. If the promise is awaited, nothing that was changed
   * is believed any more.
   */
  readonly noticeOwn: () => MaybeLater<void>;
  /** Null while everything remembered is at most a second old. */
  readonly blindness: () => Blindness | null;
}
