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
 * Follows the calls of a server: rows written to the log become durable when a sync ends that began after their commit, in whichever thread, and
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
    if (call.phase === "begin" && isSync) follower.beginsSync(call);
    if (call.begun !== undefined && isSync) follower.endsSync(call.begun, call.result === 0);
  }
  return follower;
}

/** What a sync will have made durable when it ends. */
interface Covered {
  readonly ids: readonly string[];
  readonly logBytes: number;
  readonly databaseWrites: number;
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
  /** By the beginning of the sync. Syncs of several threads overlap. */
  readonly #running = new Map<CallEvent, Covered>();
  #written = new Set<string>();
  readonly #committed = new Set<string>();
  #writtenBytes = 0;
  #durableBytes = 0;
  #endsTransaction = false;
  #databaseWrites = 0;
  #durableWrites = 0;

  constructor(database: string) {
    this.#database = database;
    this.#log = `${database}-wal`;
  }

  writes(call: CallEvent): void {
    if (call.path === this.#log) this.#writesLog(call);
    else if (call.path === this.#database) this.#databaseWrites += 1;
    else if (call.path.startsWith("socket:")) this.#answers(call.bytes.toString("latin1"));
  }

  beginsSync(call: CallEvent): void {
    const [logBytes, databaseWrites] = [this.#writtenBytes, this.#databaseWrites];
    this.#running.set(call, { ids: [...this.#committed], logBytes, databaseWrites });
  }

  endsSync(begun: CallEvent, isDone: boolean): void {
    const covered = this.#running.get(begun);
    this.#running.delete(begun);
    if (covered === undefined || !isDone) return;
    if (begun.path === this.#database) {
      this.#durableWrites = Math.max(this.#durableWrites, covered.databaseWrites);
      this.checkpoints += 1;
    }
    if (begun.path !== this.#log) return;
    this.syncs += 1;
    this.#durableBytes = Math.max(this.#durableBytes, covered.logBytes);
    for (const id of covered.ids) {
      this.#durable.add(id);
      this.#committed.delete(id);
    }
  }

  #writesLog({ bytes, offset }: CallEvent): void {
    if (offset === 0) {
      this.restarts += 1;
      if (this.#durableWrites < this.#databaseWrites)
        this.breaches.push("the log was begun anew over a database not yet durable");
      this.#writtenBytes = 0;
      this.#durableBytes = 0;
      // What they covered of the log before says nothing of this one.
      this.#running.clear();
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
