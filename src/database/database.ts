import type { MaybeLater } from "../foundation/maybe-later.ts";
import { DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from "kysely";
import type { Steps } from "./steps.ts";
import type { Tables } from "./tables.generated.ts";

/**
 * Builds SQL with the tables' types and runs nothing: pass the result to a {@link Database}. One driver call is synchronous and
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
 * The store of all rows that every feature works with, whatever engine is behind it. Every method throws FormsvcError:
 * `database_busy` when another process holds the database, `database_unusable` when the disk or the database refuses.
 */
export interface Database {
  readonly engine: "sqlite" | "postgresql";
  /** Its name in messages: the absolute path of the file, or the address without its password. */
  readonly name: string;
  /**
   * Runs steps that only read, all over one state of the database.
   *
   * @param gone aborted when nobody waits for them any more: PostgreSQL cancels the statement that runs, and its reason is thrown. On SQLite a
   *   statement runs to its end.
   */
  read<Result>(work: () => Steps<Result>, gone?: AbortSignal): Promise<Result>;
  /**
   * Runs steps in one transaction, durable when the promise resolves, with everything that they read. If they throw, all of them are rolled back. No
   * other transaction can come between them.
   */
  transaction<Result>(work: () => Steps<Result>): Promise<Result>;
  /**
   * As {@link transaction}, without waiting for the disk. The end of the process loses nothing. A power cut may lose the last of
   * these transactions, unless a durable one followed. Use it for work that is done again if it is lost.
   */
  relaxedTransaction<Result>(work: () => Steps<Result>): Promise<Result>;
  /**
   * Resolves when everything that was read before is as durable as what {@link transaction} changes. Call it before an answer says that
   * something is stored which was only read: PostgreSQL shows what a synchronous standby does not have, once somebody ended a commit's
   * wait for it. Calls at the same time share one commit.
   */
  confirmReads(): Promise<void>;
  close(): MaybeLater<void>;
}

export interface ChangeListener {
  /** Another process committed something of any kind. PostgreSQL tells by {@link Head}s instead. */
  onForeignCommit(): void;
  /** Another process changed settings. */
  onSettingsChange(): void;
  /** A newer version of the program changed the schema. Reported once, and nothing else after it. */
  onUpgrade(): void;
}

/** Something that grows or changes with what others commit, for an engine that cannot tell whether anything at all was committed. */
export interface Head {
  /** An expression of PostgreSQL's that gives one value, and costs next to nothing however large the tables are. */
  readonly sql: string;
  /** Called when the value is another one. */
  readonly onChange: () => void;
  /** Whether it is called as well when another server tells. */
  readonly isNotified?: boolean;
}

/**
 * Why a server cannot know whether a key is still good. `upgraded`: another process has upgraded the database, and nothing here fits
 * it any more. `unheard`: the database has said nothing for a second.
 */
export type Blindness = "upgraded" | "unheard";

/** Notices other processes' commits. */
export interface ChangeWatch {
  /** Call it before each request. A file is looked at then, at most every 200 ms; a look costs two microseconds. */
  readonly noticeChanges: () => void;
  /** Null while what is remembered is a second old at most. */
  readonly blindness: () => Blindness | null;
}
