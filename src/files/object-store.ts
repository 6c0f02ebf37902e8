import type { Database } from "../database/database.ts";
import type { FileFacts } from "../schemas/posted-file.ts";
import type { ByteSource } from "./byte-source.ts";

/** The positions of the first and the last byte, both inclusive. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/** The size and SHA-256 that the bytes of a file must have. */
export type Expected = Pick<FileFacts, "size" | "sha256">;

/** A store for files outside the database. Each file is one object, under an id that we choose. */
export interface ObjectStore {
  /** Whether new files go into this store instead of the database. */
  readonly takesNew: boolean;
  /** The fault that the last request found; null if there was none. */
  readonly fault: string | null;
  /** Whether the store failed a moment ago, so that posts with files should be refused before they are read. */
  isAway(): boolean;
  /** Resolves when the store has confirmed twice that it has all bytes. @throws unavailable */
  put(objectId: string, source: ByteSource, expected: Expected): Promise<void>;
  /**
   * Yields some bytes as they arrive. If a whole file is read and its bytes are not those that were stored, the last part is not yielded
   * and the read throws.
   *
   * @throws gone if the store has no such object; unavailable
   */
  read(objectId: string, range: ByteRange, expected: Expected): AsyncIterable<Buffer>;
  /** Resolves when the object does not exist any more. @throws unavailable */
  remove(objectId: string): Promise<void>;
  /** Stores, reads and deletes a small object. Returns what went wrong; null if nothing did. */
  probe(): Promise<string | null>;
  /** Ends every request. */
  close(): Promise<void>;
}

const stores = new WeakMap<object, ObjectStore>();

/** Connects a database with the store of its files, so that code that reads a file needs only the database. */
export function setObjectStore(db: Database, store: ObjectStore): void {
  stores.set(db, store);
}

/** The store of a database's files; null if the configuration names none. */
export function objectsOf(db: object): ObjectStore | null {
  return stores.get(db) ?? null;
}
