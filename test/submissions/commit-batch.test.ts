import { expect, test } from "vitest";
import type { SqliteDatabase } from "../../src/database/sqlite/sqlite-database.ts";
import { insertEndpointRow } from "../../src/endpoints/endpoint-store.ts";
import { defaultEndpointSettings } from "../../src/endpoints/endpoint.ts";
import { FormsvcError } from "../../src/foundation/errors.ts";
import { newId } from "../../src/foundation/id.ts";
import { exampleSchema } from "../support/example-schema.ts";
import type { Batch, Committed, PendingSubmission } from "../../src/submissions/commit/batch.ts";
import { type CommitQueue, createCommitQueue } from "../../src/submissions/commit/commit-batch.ts";
import { createSqliteBatch } from "../../src/submissions/commit/sqlite-batch.ts";
import { createSpamMemory } from "../../src/history/spam-memory.ts";
import { createSqliteOutbox } from "../../src/outbox/queue/outbox.ts";
import { createUsageCounter } from "../../src/workspaces/usage-counter.ts";
import { insertAccountRows } from "../../src/workspaces/workspace-store.ts";
import { NO_COPIER, tally } from "../support/batch-world.ts";
import { countCommits } from "../support/count-commits.ts";
import { asSubmission } from "../support/add-submission.ts";
import { NOON } from "../support/fake-clock.ts";
import { openForTest, temporaryDatabase } from "../support/temporary-database.ts";
import { until } from "../support/until.ts";

interface Bench {
  readonly db: SqliteDatabase;
  /** Another process' connection. */
  readonly other: SqliteDatabase;
  readonly queue: CommitQueue;
  readonly pending: (more?: {
    limit?: number | null;
    at?: number;
    data?: Record<string, unknown>;
  }) => PendingSubmission;
  readonly count: (table: "submission" | "idempotency") => number;
  readonly used: (month?: string) => number;
}

const plans = { hobby: { monthlySubmissions: null, endpoints: null, customSpam: false } };

function bench(): Bench {
  const db = temporaryDatabase(10);
  const { workspace } = db.now(() => insertAccountRows("ana@example.org", NOON));
  const made = { name: "Contact", definition: exampleSchema, settings: defaultEndpointSettings };
  const endpoint = db.now(() => insertEndpointRow(workspace, made, plans, NOON));
  const batch = createSqliteBatch({
    db,
    usage: createUsageCounter(db),
    outbox: createSqliteOutbox(db),
    copier: NO_COPIER,
    memory: createSpamMemory(null),
    held: { maxPerWorkspace: null },
  });
  const queue = createCommitQueue(batch);
  const other = openForTest(db.path);
  return {
    db,
    other,
    queue,
    pending: ({ limit = null, at = NOON, data = { a: 1 } } = {}) => ({
      kind: "submission",
      submission: asSubmission({ endpointId: endpoint.id, data, createdAt: at }),
      workspaceId: workspace.id,
      monthlyLimit: limit,
      idempotent: null,
      proof: null,
      fields: {},
      recollection: null,
      fileIds: null,
      address: "192.0.2.1",
      trapped: false,
    }),
    count: (table) => Number(other.prepare(`SELECT count(*) FROM ${table}`).pluck().get()),
    used: (month = "2026-06") =>
      Number(other.prepare("SELECT used FROM usage WHERE month = ?").pluck().get(month) ?? 0),
  };
}

async function refusalOf(promise: Promise<unknown>): Promise<FormsvcError> {
  const thrown: unknown = await promise.then(
    () => null,
    (error: unknown) => error,
  );
  if (!(thrown instanceof FormsvcError)) throw new Error(`expected a refusal, got ${String(thrown)}`);
  return thrown;
}

test("everything that arrives in one turn of the event loop is one durable transaction", async () => {
  const { db, queue, pending, count, used } = bench();
  const before = countCommits(db.path);
  const outcomes = await Promise.all(Array.from({ length: 300 }, () => queue.add(pending())));
  expect(tally(outcomes)).toEqual({ stored: 300 });
  expect(countCommits(db.path) - before).toBe(1);
  expect([count("submission"), used()]).toEqual([300, 300]);
});

test("a commit waits for posts and connections as long as each turn of the event loop brings one, for 32 at most", async () => {
  const { db, queue, pending } = bench();
  const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const commitsOf = async (turns: number, arrive: (turn: number) => void): Promise<number> => {
    const before = countCommits(db.path);
    for (let turn = 0; turn < turns; turn += 1) {
      arrive(turn);
      await nextTurn();
    }
    await queue.drain();
    return countCommits(db.path) - before;
  };
  const add = (): void => void queue.add(pending());
  expect(await commitsOf(20, add)).toBe(1);
  // Nobody posts between the first and the last of them.
  expect(await commitsOf(20, (turn) => (turn % 19 === 0 ? add() : queue.expectMore()))).toBe(1);
  expect(await commitsOf(40, add)).toBe(2);
  expect(await commitsOf(20, (turn) => void (turn % 19 === 0 && add()))).toBe(2);
});

test("more than 512 are several transactions, in the order of arrival", async () => {
  const { db, other, queue, pending } = bench();
  const before = countCommits(db.path);
  const all = Array.from({ length: 1000 }, () => pending());
  await Promise.all(all.map((each) => queue.add(each)));
  expect(countCommits(db.path) - before).toBe(2);
  const stored = other.prepare("SELECT id FROM submission ORDER BY seq").pluck().all();
  expect(stored).toEqual(all.map(({ submission }) => submission.id));
});

test("an answer is given only after other processes can read the row", async () => {
  const { other, queue, pending, count } = bench();
  other.execute("BEGIN IMMEDIATE");
  let answered = false;
  const added = queue.add(pending()).then(() => (answered = true));
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect([answered, count("submission")]).toEqual([false, 0]);
  other.execute("COMMIT");
  await added;
  expect(count("submission")).toBe(1);
});

test("the queue's end is bounded: the 1025th that waits is refused, and the others are stored", async () => {
  const { queue, pending, count } = bench();
  const waiting = Array.from({ length: 1024 }, () => queue.add(pending()));
  const refused = await refusalOf(queue.add(pending()));
  expect([refused.code, refused.facts.retryAfterSeconds]).toEqual(["unavailable", 1]);
  await Promise.all(waiting);
  expect(count("submission")).toBe(1024);
});

test("the limit is met exactly within one batch, and what another process counted is seen", async () => {
  const { db, other, queue, pending, count, used } = bench();
  const { workspaceId } = pending();
  await queue.add(pending({ limit: 10 }));
  other.execute(`UPDATE usage SET used = 4 WHERE workspace_id = '${workspaceId}'`);
  const outcomes = await Promise.all(Array.from({ length: 20 }, () => queue.add(pending({ limit: 10 }))));
  expect(tally(outcomes)).toEqual({ stored: 6, over_limit: 14 });
  expect([used(), count("submission")]).toEqual([10, 7]);
  expect(db.pragma("integrity_check")).toBe("ok");
});

test("each month is counted by itself, even if one batch holds the end of one and the start of the next", async () => {
  const { queue, pending, used } = bench();
  const last = Date.UTC(2026, 6, 1) - 1;
  const times = [last, last, last + 1, last, last + 1];
  const outcomes = await Promise.all(times.map((at) => queue.add(pending({ at, limit: 2 }))));
  expect(outcomes).toEqual(["stored", "stored", "stored", "over_limit", "stored"]);
  expect([used("2026-06"), used("2026-07")]).toEqual([2, 2]);
});

test("a submission whose endpoint was deleted meanwhile is gone alone: its batch is stored", async () => {
  const { other, queue, pending, count, used } = bench();
  const good = [pending(), pending()];
  const orphan = pending();
  const gone = { ...orphan, submission: { ...orphan.submission, endpointId: newId("ep", NOON) } };
  const outcomes = await Promise.all([good[0]!, gone, good[1]!].map((each) => queue.add(each)));
  expect(outcomes).toEqual(["stored", "gone", "stored"]);
  expect([count("submission"), used()]).toEqual([2, 2]);
  expect(other.prepare("PRAGMA foreign_key_check").all()).toEqual([]);
});

test("a full disk refuses the whole batch, stores nothing by halves, and heals by itself", async () => {
  const { db, queue, pending, count, used } = bench();
  await queue.add(pending());
  // No free pages, which migrations leave.
  db.execute("VACUUM");
  const pages = Number(db.pragma("page_count"));
  db.pragma(`max_page_count = ${pages}`);
  const big = { text: "x".repeat(20_000) };
  const batch = [pending(), pending({ data: big }), pending()].map((each) => refusalOf(queue.add(each)));
  for (const refused of await Promise.all(batch)) {
    expect([refused.code, refused.facts.retryAfterSeconds]).toEqual(["unavailable", 5]);
    expect(refused.message).not.toMatch(/SQLITE|disk|\//);
  }
  expect([count("submission"), used()]).toEqual([1, 1]);
  db.pragma("max_page_count = 1000000");
  expect(await queue.add(pending({ data: big }))).toBe("stored");
  expect([count("submission"), used()]).toEqual([2, 2]);
});

test("a defect in one batch is not hidden as a refusal, and the next batch is stored", async () => {
  const { queue, pending, count } = bench();
  const circular: Record<string, unknown> = {};
  circular["self"] = circular;
  await expect(queue.add(pending({ data: circular }))).rejects.toThrow(TypeError);
  expect(await queue.add(pending())).toBe("stored");
  expect(count("submission")).toBe(1);
});

test("draining waits for everything that was taken, and for nothing else", async () => {
  const { queue, pending, count } = bench();
  await queue.drain();
  const added = Promise.all(Array.from({ length: 600 }, () => queue.add(pending())));
  await queue.drain();
  expect(count("submission")).toBe(600);
  await added;
});

/** A writer that ends a batch when the test says so. */
function slowWriter() {
  const begun: { readonly batch: Batch; readonly end: (error?: Error) => void }[] = [];
  const write = (batch: Batch): Promise<Committed> =>
    new Promise((resolve, reject) => {
      const committed = { batch, outcomes: batch.map(() => "stored" as const), evictions: [], marks: [] };
      begun.push({ batch, end: (error) => (error === undefined ? resolve(committed) : reject(error)) });
    });
  return { begun, write };
}

test("one batch at a time waits for the network, and what comes meanwhile is the next one", async () => {
  const { pending } = bench();
  const { begun, write } = slowWriter();
  const queue = createCommitQueue(write);
  const first = queue.add(pending());
  await until(() => begun.length === 1);
  const others = Array.from({ length: 20 }, () => queue.add(pending()));
  await nextTurns(40);
  expect([begun.length, queue.waiting()]).toEqual([1, 21]);
  begun[0]?.end();
  expect(await first).toBe("stored");
  await until(() => begun.length === 2);
  expect(begun[1]?.batch).toHaveLength(20);
  begun[1]?.end();
  expect(tally(await Promise.all(others))).toEqual({ stored: 20 });
  await queue.drain();
});

test("a batch that the network refuses is refused alone, and one that is busy is written again", async () => {
  const { pending } = bench();
  const { begun, write } = slowWriter();
  const queue = createCommitQueue(write);
  const refused = refusalOf(queue.add(pending()));
  await until(() => begun.length === 1);
  const added = queue.add(pending());
  begun[0]?.end(new FormsvcError("database_unusable", "gone"));
  expect((await refused).code).toBe("unavailable");
  await until(() => begun.length === 2);
  begun[1]?.end(new FormsvcError("database_busy", "in the way"));
  await until(() => begun.length === 3);
  expect(begun[2]?.batch).toEqual(begun[1]?.batch);
  begun[2]?.end();
  expect(await added).toBe("stored");
});

async function nextTurns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
