import type { CallEvent } from "./system-calls.ts";

/** What a record of system calls says about one server's promises. */
export interface Durability {
  /** Acknowledgements that left before what they say was durable, and other breaches, each as a sentence. */
  readonly breaches: readonly string[];
  /** For each acknowledged id, how far into the write-ahead log was durable when its answer left, in bytes. */
  readonly coveredBytes: ReadonlyMap<string, number>;
  readonly syncs: number;
  /** Times the log's content was made durable in the database itself. */
  readonly checkpoints: number;
  /** Times the log was begun anew. */
  readonly restarts: number;
}

const SUBMISSION_ID = /sub_[0-9a-z]{26}/g;
const FRAME_HEADER_BYTES = 24;

/**
 * Follows the calls of a server: rows written to the log become durable with the next sync that covers their commit, and
 * only then may an answer of 200 name them. Before the log is begun anew, the database that took it over must be durable.
 */
export async function followDurability(
  calls: AsyncIterable<CallEvent> | readonly CallEvent[],
  database: string,
): Promise<Durability> {
  const follower = new Follower(database);
  for await (const call of calls) {
    const isSync = call.name === "fsync" || call.name === "fdatasync";
    if (call.phase === "begin" && !isSync) follower.writes(call);
    if (call.phase === "end" && isSync && call.result === 0) follower.synced(call.path);
  }
  return follower;
}

class Follower implements Durability {
  readonly breaches: string[] = [];
  readonly coveredBytes = new Map<string, number>();
  syncs = 0;
  checkpoints = 0;
  restarts = 0;
  readonly #database: string;
  readonly #log: string;
  readonly #durable = new Set<string>();
  #written = new Set<string>();
  #committed = new Set<string>();
  #writtenBytes = 0;
  #durableBytes = 0;
  #endsTransaction = false;
  #databaseIsDurable = true;

  constructor(database: string) {
    this.#database = database;
    this.#log = `${database}-wal`;
  }

  writes(call: CallEvent): void {
    if (call.path === this.#log) this.#writesLog(call);
    else if (call.path === this.#database) this.#databaseIsDurable = false;
    else if (call.path.startsWith("socket:")) this.#answers(call.bytes.toString("latin1"));
  }

  synced(path: string): void {
    if (path === this.#database) {
      this.#databaseIsDurable = true;
      this.checkpoints += 1;
    }
    if (path !== this.#log) return;
    this.syncs += 1;
    this.#durableBytes = this.#writtenBytes;
    for (const id of this.#committed) this.#durable.add(id);
    this.#committed = new Set();
  }

  #writesLog({ bytes, offset }: CallEvent): void {
    if (offset === 0) {
      this.restarts += 1;
      if (!this.#databaseIsDurable)
        this.breaches.push("the log was begun anew over a database not yet durable");
      this.#writtenBytes = 0;
    }
    this.#writtenBytes = Math.max(this.#writtenBytes, offset + bytes.length);
    for (const [id] of bytes.toString("latin1").matchAll(SUBMISSION_ID)) {
      if (!this.#durable.has(id)) this.#written.add(id);
    }
    // The frame that ends a transaction names the size of the database in its header; its page is written after it.
    if (bytes.length === FRAME_HEADER_BYTES) {
      this.#endsTransaction = bytes.readUInt32BE(4) !== 0;
    } else if (this.#endsTransaction) {
      for (const id of this.#written) this.#committed.add(id);
      this.#written = new Set();
    }
  }

  #answers(text: string): void {
    if (!text.startsWith("HTTP/1.1 200")) return;
    for (const [id] of text.matchAll(SUBMISSION_ID)) {
      if (!this.#durable.has(id)) this.breaches.push(`${id} was acknowledged before it was durable`);
      this.coveredBytes.set(id, this.#durableBytes);
    }
  }
}
