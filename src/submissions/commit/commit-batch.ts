import { FormsvcError } from "../../foundation/errors.ts";
import { andThen, orElse } from "../../foundation/maybe-later.ts";
import type { NewChunk } from "../../files/stored-file.ts";
import type {
  Batch,
  BatchWriter,
  CommitOutcome,
  Committed,
  PendingHeld,
  PendingSubmission,
} from "./batch.ts";
import { type ChunkPace, createChunkPace } from "./chunk-pace.ts";

export interface CommitObserver {
  /** Called for each transaction that stored or refused submissions, when it is durable. */
  readonly onCommit: (committed: Committed, seconds: number) => void;
  /** Called when a batch is given up because it could not be stored. */
  readonly onRefusal: () => void;
}

const NO_OBSERVER: CommitObserver = { onCommit() {}, onRefusal() {} };

/** The largest number of posts that wait for the disk; further ones are refused with 503. */
const MAX_WAITING = 1024;
/** The largest number of submissions in one transaction. */
const MAX_BATCH = 512;
/**
 * The largest number of turns of the event loop that a commit waits, while each brings another post or connection. Node takes one new connection
 * in each turn, so with many clients this is how many are taken for each commit.
 */
const MAX_TURNS = 32;
/** Longest time that a batch waits for another process's write transaction before it is refused. */
const MAX_BUSY_MS = 5000;
const BUSY_RETRY_MS = 20;

export interface CommitQueue {
  /** Called when a client has just connected: it may post in the next turn of the event loop. */
  readonly expectMore: () => void;
  /**
   * Resolves when the submission is durable, or its refusal is certain. @throws unavailable if the queue is full, the disk refuses or the
   * file stays locked; then nothing was stored.
   */
  add(pending: PendingSubmission): Promise<CommitOutcome>;
  /** Resolves when a chunk of a file is stored with the posts of some batch. @throws unavailable as {@link CommitQueue.add} does. */
  addChunk(chunk: NewChunk): Promise<void>;
  /** The number of posts that wait to be stored. */
  waiting(): number;
  /** Resolves when the refused post is stored. @throws unavailable as {@link CommitQueue.add} does. */
  hold(pending: PendingHeld): Promise<CommitOutcome>;
  /** Resolves when no post and no chunk waits. */
  drain(): Promise<void>;
}

interface WaitingChunk {
  readonly chunk: NewChunk;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

interface Waiter {
  readonly pending: PendingSubmission | PendingHeld;
  readonly resolve: (outcome: CommitOutcome) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Group commit: everything that arrives in one turn of the event loop goes into one durable transaction, so that the
 * cost of reaching the disk is shared and an answer is only given after it. One batch is written at a time; posts that come
 * meanwhile are the next one.
 */
export function createCommitQueue(store: BatchWriter, observer: CommitObserver = NO_OBSERVER): CommitQueue {
  let waiting: Waiter[] = [];
  const chunks: WaitingChunk[] = [];
  let scheduled = false;
  const patience = createPatience();
  const chunkPace = store.heldChunks && createChunkPace(store.heldChunks);
  const drained: (() => void)[] = [];

  const schedule = (): void => {
    if (scheduled) return;
    scheduled = true;
    if (patience.isAtRest()) collector.start();
    else setTimeout(flush, BUSY_RETRY_MS);
  };
  const flush = (): void => {
    const { batch, first } = take(waiting, chunks, chunkPace);
    if (batch.length === 0 && first === null) {
      scheduled = false;
      return void (chunks.length > 0 && Promise.resolve(chunkPace?.held()).then(schedule));
    }
    const startedAt = performance.now();
    const succeed = (committed: Committed): void => {
      if (batch.length > 0) observer.onCommit(committed, (performance.now() - startedAt) / 1000);
      patience.rest();
      end(batch, first, () => accept(batch, first, committed));
    };
    const fail = (error: unknown): void => {
      if (patience.mayTryAgain(error)) return end(batch, first, null);
      observer.onRefusal();
      end(batch, first, () => refuse(batch, first, asRefusal(error)));
    };
    void orElse(() => andThen(store(postsOf(batch), first?.chunk), succeed), fail);
  };
  /** @param settle answers those who wait; null if the same batch is tried again. */
  const end = (batch: readonly Waiter[], first: WaitingChunk | null, settle: (() => void) | null): void => {
    scheduled = false;
    if (settle !== null) {
      waiting = waiting.slice(batch.length);
      if (first !== null) chunks.shift();
      settle();
    }
    if (first !== null) chunkPace?.noteChunk();
    if (waiting.length > 0 || chunks.length > 0) schedule();
    else for (const resolve of drained.splice(0)) resolve();
  };
  const collector = createCollector(() => waiting.length, flush);

  const add = (pending: PendingSubmission | PendingHeld): Promise<CommitOutcome> => {
    if (waiting.length >= MAX_WAITING) return Promise.reject(tooManyWaiting());
    return new Promise((resolve, reject) => {
      waiting.push({ pending, resolve, reject });
      schedule();
    });
  };
  return {
    waiting: () => waiting.length,
    expectMore: collector.expectMore,
    add,
    hold: add,
    addChunk: (chunk) =>
      new Promise((resolve, reject) => {
        chunks.push({ chunk, resolve, reject });
        schedule();
      }),
    drain: () =>
      waiting.length + chunks.length === 0
        ? Promise.resolve()
        : new Promise((resolve) => drained.push(resolve)),
  };
}

function postsOf(batch: readonly Waiter[]): Batch {
  return batch.map(({ pending }) => pending);
}

function accept(batch: readonly Waiter[], first: WaitingChunk | null, { outcomes }: Committed): void {
  batch.forEach(({ resolve }, index) => resolve(outcomes[index] ?? "gone"));
  first?.resolve();
}

function refuse(batch: readonly Waiter[], first: WaitingChunk | null, error: unknown): void {
  batch.forEach(({ reject }) => reject(error));
  first?.reject(error);
}

/** What goes into one transaction: posts, and at most one chunk. */
interface Taken {
  readonly batch: readonly Waiter[];
  readonly first: WaitingChunk | null;
}

/** Takes the posts and the chunk that the next transaction stores. @param pace absent if chunks are stored together with posts. */
function take(waiting: readonly Waiter[], chunks: readonly WaitingChunk[], pace?: ChunkPace): Taken {
  const batch = waiting.slice(0, MAX_BATCH);
  const first = chunks[0] ?? null;
  if (pace === undefined) return { batch, first };
  if (first !== null && pace.mayStore(batch.length)) return { batch: [], first };
  pace.notePosts(batch);
  return { batch, first: null };
}

/** Decides how long a batch waits for another process that holds the database. */
function createPatience() {
  let busySince: number | null = null;
  return {
    isAtRest: () => busySince === null,
    rest: () => void (busySince = null),
    /** Whether the same batch should be tried again. */
    mayTryAgain(error: unknown): boolean {
      const busy = error instanceof FormsvcError && error.code === "database_busy";
      busySince ??= busy ? performance.now() : null;
      if (busy && busySince !== null && performance.now() - busySince < MAX_BUSY_MS) return true;
      busySince = null;
      return false;
    },
  };
}

/**
 * Lets the event loop turn as long as each turn brings more posts, and at least once: posts that arrive during the first turn share
 * the fsync. This nearly doubles the posts of a commit under load, and costs microseconds when idle.
 */
function createCollector(count: () => number, flush: () => void) {
  let isExpecting = false;
  const turn = (before: number, turnsLeft: number): void => {
    const now = count();
    const hasGrown = now !== before || isExpecting;
    isExpecting = false;
    if (hasGrown && now < MAX_BATCH && turnsLeft > 0) setImmediate(turn, now, turnsLeft - 1);
    else flush();
  };
  return {
    start: () => void setImmediate(turn, 0, MAX_TURNS),
    expectMore: () => void (isExpecting = true),
  };
}

function tooManyWaiting(): FormsvcError {
  return new FormsvcError("unavailable", "Too many posts are waiting; try again shortly.", {
    retryAfterSeconds: 1,
  });
}

/** Turns an error of the database into one for the sender, who may try again. Any other error is a defect, and is returned unchanged. */
function asRefusal(error: unknown): unknown {
  if (!(error instanceof FormsvcError)) return error;
  return new FormsvcError("unavailable", "The submission could not be stored; try again shortly.", {
    retryAfterSeconds: error.facts.retryAfterSeconds ?? 5,
    cause: error,
  });
}
