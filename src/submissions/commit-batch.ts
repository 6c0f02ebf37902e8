import Driver from "better-sqlite3";
import type { SqliteDatabase } from "../database/sqlite/sqlite-database.ts";
import { monthOf } from "../foundation/clock.ts";
import { FormsvcError } from "../foundation/errors.ts";
import type { Enqueue, Outbox } from "../outbox/outbox.ts";
import type { UsageCounter } from "../workspaces/usage-counter.ts";
import { marksPassed, type UsageMark } from "../workspaces/usage-mark.ts";
import type { Eviction, HeldPostWriter, NewHeldPost } from "./held-post.ts";
import type { IdempotencyMemory, IdempotentPost } from "./idempotency.ts";
import type { RecalledPost, Recollection, SpamMemory } from "../history/spam-memory.ts";
import { INSERT_SUBMISSION_SQL, submissionValues } from "./submission-store.ts";
import type { Submission } from "./submission.ts";

/** A submission that is checked and judged, and waits to be stored. */
export interface PendingSubmission {
  readonly submission: Submission;
  readonly workspaceId: string;
  /** Accepted submissions that the plan allows in the month; null is unlimited. */
  readonly monthlyLimit: number | null;
  readonly idempotent: IdempotentPost | null;
  /** What the workspace will remember of it; null for nothing. */
  readonly recollection: Recollection | null;
}

/** A post that is refused, and waits to be kept. */
export interface PendingHeld extends NewHeldPost {
  /** Null if the workspace should not remember it, because it was refused only for the limit. */
  readonly recollection: Recollection | null;
}

/** `stored` is durable on disk; the others changed nothing. `gone`: the endpoint was deleted meanwhile. */
export type CommitOutcome = "stored" | "over_limit" | "gone";

/** The result of one transaction. */
export interface Committed {
  readonly batch: readonly (PendingSubmission | PendingHeld)[];
  /** One for each submission of the batch. */
  readonly outcomes: readonly CommitOutcome[];
  /** Held posts that were deleted for lack of room, one entry for each workspace. */
  readonly evictions: readonly Eviction[];
  /** Shares of monthly limits that were reached. */
  readonly marks: readonly UsageMark[];
}

export interface CommitObserver {
  /** Called for each transaction that stored or refused submissions, when it is durable. */
  readonly onCommit: (committed: Committed, seconds: number) => void;
  /** Called when a batch is given up because it could not be stored. */
  readonly onRefusal: () => void;
}

const NO_OBSERVER: CommitObserver = { onCommit() {}, onRefusal() {} };

/** Submissions that may wait for the disk; more are refused with 503. */
const MAX_WAITING = 1024;
/** Most submissions in one transaction. */
const MAX_BATCH = 512;
/**
 * Most turns of the event loop that a commit waits, while each brings another post or connection. Node takes one new connection
 * in each turn, so with many clients this is how many are taken for each commit.
 */
const MAX_TURNS = 32;
/** Longest time that a batch waits for another process's write transaction before it is refused. */
const MAX_BUSY_MS = 5000;
const BUSY_RETRY_MS = 20;

export interface CommitQueue {
  /** Somebody has just connected, and may post in the next turn of the event loop. */
  readonly expectMore: () => void;
  /**
   * Resolves when the submission is durable, or its refusal is certain. @throws unavailable when the queue is full, the
   * disk refuses or the file stays locked: nothing was stored then.
   */
  add(pending: PendingSubmission): Promise<CommitOutcome>;
  /** Submissions that wait for the disk. */
  waiting(): number;
  /** Resolves when the refused post is stored. @throws unavailable as {@link CommitQueue.add} does. */
  hold(pending: PendingHeld): Promise<CommitOutcome>;
  /** Resolves when nothing waits. */
  drain(): Promise<void>;
}

/** The parts that write a batch. */
export interface BatchParts {
  readonly db: SqliteDatabase;
  readonly usage: UsageCounter;
  readonly idempotency: IdempotencyMemory;
  readonly outbox: Pick<Outbox, "transactionNow">;
  readonly memory: SpamMemory;
  readonly heldPosts: HeldPostWriter;
}

interface Waiter {
  readonly pending: PendingSubmission | PendingHeld;
  readonly resolve: (outcome: CommitOutcome) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Group commit: everything that arrives in one turn of the event loop goes into one durable transaction, so that the
 * cost of reaching the disk is shared and an answer is only given after it.
 */
export function createCommitQueue(parts: BatchParts, observer: CommitObserver = NO_OBSERVER): CommitQueue {
  const storeBatch = observed(createBatchWriter(parts), observer);
  let waiting: Waiter[] = [];
  let scheduled = false;
  let busySince: number | null = null;
  const drained: (() => void)[] = [];

  const schedule = (): void => {
    if (scheduled) return;
    scheduled = true;
    if (busySince === null) collector.start();
    else setTimeout(flush, BUSY_RETRY_MS);
  };
  const flush = (): void => {
    scheduled = false;
    const batch = waiting.slice(0, MAX_BATCH);
    let settle: (() => void) | null;
    try {
      const outcomes = storeBatch(batch.map(({ pending }) => pending));
      settle = () => batch.forEach(({ resolve }, index) => resolve(outcomes[index] ?? "gone"));
      busySince = null;
    } catch (error) {
      settle = refusal(batch, error);
    }
    if (settle !== null) {
      waiting = waiting.slice(batch.length);
      settle();
    }
    if (waiting.length > 0) schedule();
    else for (const resolve of drained.splice(0)) resolve();
  };
  const collector = createCollector(() => waiting.length, flush);
  /** Null means: try the same batch again. */
  const refusal = (batch: readonly Waiter[], error: unknown): (() => void) | null => {
    const busy = error instanceof FormsvcError && error.code === "database_busy";
    busySince ??= busy ? performance.now() : null;
    if (busy && busySince !== null && performance.now() - busySince < MAX_BUSY_MS) return null;
    busySince = null;
    observer.onRefusal();
    return () => batch.forEach(({ reject }) => reject(asRefusal(error)));
  };

  const add = (pending: PendingSubmission | PendingHeld): Promise<CommitOutcome> => {
    if (waiting.length >= MAX_WAITING) {
      return Promise.reject(tooManyWaiting());
    }
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
    drain: () => (waiting.length === 0 ? Promise.resolve() : new Promise((resolve) => drained.push(resolve))),
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

function observed(
  write: BatchWriter,
  { onCommit }: CommitObserver,
): (batch: Committed["batch"]) => readonly CommitOutcome[] {
  return (batch) => {
    const startedAt = performance.now();
    const committed = write(batch);
    onCommit(committed, (performance.now() - startedAt) / 1000);
    return committed.outcomes;
  };
}

function tooManyWaiting(): FormsvcError {
  return new FormsvcError("unavailable", "Too many posts are waiting; try again shortly.", {
    retryAfterSeconds: 1,
  });
}

/** The error for the sender: if the disk or a lock refused, to try again; a defect is not changed. */
function asRefusal(error: unknown): unknown {
  if (!(error instanceof FormsvcError)) return error;
  return new FormsvcError("unavailable", "The submission could not be stored; try again shortly.", {
    retryAfterSeconds: error.facts.retryAfterSeconds ?? 5,
    cause: error,
  });
}

type BatchWriter = (batch: Committed["batch"]) => Committed;

function createBatchWriter({ db, usage, idempotency, outbox, memory, heldPosts }: BatchParts): BatchWriter {
  const store = createStorer(db, idempotency);
  const keep = createKeeper(heldPosts);
  return (batch) => {
    const counts = new Map<string, Count>();
    const { outcomes, evictions } = outbox.transactionNow((enqueue) => {
      const holders = new Map<string, number>();
      const decided = batch.map((pending): CommitOutcome => {
        if ("held" in pending) {
          if (!keep(pending)) return "gone";
          holders.set(pending.held.workspaceId, pending.held.createdAt);
          return "stored";
        }
        const count = countFor(counts, pending, usage);
        if (pending.monthlyLimit !== null && count.used >= pending.monthlyLimit) return "over_limit";
        if (!store(pending, enqueue)) return "gone";
        count.used += 1;
        count.limit = pending.monthlyLimit;
        return "stored";
      });
      for (const count of counts.values()) {
        if (count.used > count.before) usage.write(count.workspaceId, count.month, count.used);
      }
      const recalled = batch.filter((_, index) => decided[index] === "stored").flatMap(recalledOf);
      if (recalled.length > 0) db.now(() => memory.remember(recalled));
      const evicted = [...holders].map(([workspaceId, now]) => heldPosts.evict(workspaceId, now));
      return { outcomes: decided, evictions: evicted.filter((eviction) => eviction !== null) };
    });
    for (const { workspaceId, month, used } of counts.values()) usage.remember(workspaceId, month, used);
    return { batch, outcomes, evictions, marks: [...counts.values()].flatMap(marksPassed) };
  };
}

/** Stores a submission; false if its endpoint was deleted meanwhile. */
function createStorer(
  db: SqliteDatabase,
  idempotency: IdempotencyMemory,
): (pending: PendingSubmission, enqueue: Enqueue) => boolean {
  const insert = db.prepare(INSERT_SUBMISSION_SQL);
  return (pending, enqueue) => {
    const { submission } = pending;
    const event = enqueue(submission, submission.createdAt);
    try {
      insert.run(...submissionValues(submission, event));
    } catch (error) {
      // Only this row is undone: the endpoint was deleted between the check and now, and has no number.
      if (isCode(error, "SQLITE_CONSTRAINT_NOTNULL")) return false;
      throw error;
    }
    if (pending.idempotent !== null)
      idempotency.record(pending.idempotent, submission.id, submission.createdAt);
    return true;
  };
}

/** Stores a refused post; false if its endpoint was deleted meanwhile. */
function createKeeper(heldPosts: HeldPostWriter): (pending: PendingHeld) => boolean {
  return (pending) => {
    try {
      heldPosts.insert(pending);
    } catch (error) {
      if (isCode(error, "SQLITE_CONSTRAINT_FOREIGNKEY")) return false;
      throw error;
    }
    return true;
  };
}

/** What the workspace should remember of a post. */
function recalledOf(pending: PendingSubmission | PendingHeld): RecalledPost[] {
  const { recollection } = pending;
  const { workspaceId } = "held" in pending ? pending.held : pending;
  return recollection === null ? [] : [{ workspaceId, recollection }];
}

/** The count of a batch so far in one workspace and month. */
interface Count {
  readonly workspaceId: string;
  readonly month: string;
  /** The count when the batch began. */
  readonly before: number;
  used: number;
  /** The monthly limit of the last submission that was counted; null is unlimited. */
  limit: number | null;
}

function countFor(counts: Map<string, Count>, pending: PendingSubmission, usage: UsageCounter): Count {
  const { workspaceId, monthlyLimit } = pending;
  const month = monthOf(pending.submission.createdAt);
  const unit = `${workspaceId} ${month}`;
  let count = counts.get(unit);
  if (count === undefined) {
    const before = usage.read(workspaceId, month);
    count = { workspaceId, month, before, used: before, limit: monthlyLimit };
    counts.set(unit, count);
  }
  return count;
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Driver.SqliteError && error.code === code;
}
