import type { Database } from "../database/database.ts";
import type { FileFacts } from "../schemas/posted-file.ts";
import type { ByteSource } from "./byte-source.ts";

/** Positions of the first and the last byte. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/** What the bytes of a file must be. */
export type Expected = Pick<FileFacts, "size" | "sha256">;

/** A store for files beside the database, each one object under an id that is ours. */
export interface ObjectStore {
  /** Whether new files go there, and not into the database. */
  readonly takesNew: boolean;
  /** What is wrong with it, as the last request found; null if nothing is. */
  readonly fault: string | null;
  /** Whether it failed a moment ago, so that a post with files need not be read. */
  isAway(): boolean;
  /** Resolves when the store has said twice that it has all bytes. @throws unavailable */
  put(objectId: string, source: ByteSource, expected: Expected): Promise<void>;
  /**
   * Some bytes, as they come. All of a file never come to their end if they are not those that were stored.
   *
   * @throws gone if the store has no such object; unavailable
   */
  read(objectId: string, range: ByteRange, expected: Expected): AsyncIterable<Buffer>;
  /** Resolves when there is no such object any more. @throws unavailable */
  remove(objectId: string): Promise<void>;
  /** Stores, reads and deletes a small object. Returns what is wrong; null if nothing is. */
  probe(): Promise<string | null>;
  /** Ends every request. */
  close(): Promise<void>;
}

const stores = new WeakMap<object, ObjectStore>();

/** Says which store has the files of a database that are not in it: whoever reads a file is handed the database, and finds it with that. */
export function setObjectStore(db: Database, store: ObjectStore): void {
  stores.set(db, store);
}

/** Null if the configuration names none. */
export function objectsOf(db: object): ObjectStore | null {
  return stores.get(db) ?? null;
}
