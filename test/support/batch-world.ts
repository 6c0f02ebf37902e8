import type { Database } from "../../src/database/database.ts";
import type { PostgresqlDatabase } from "../../src/database/postgresql/open-postgresql.ts";
import type { SqliteDatabase } from "../../src/database/sqlite/sqlite-database.ts";
import type { LogCopier } from "../../src/database/sqlite/copy-log.ts";
import { insertEndpointRow } from "../../src/endpoints/endpoint-store.ts";
import { defaultEndpointSettings } from "../../src/endpoints/endpoint.ts";
import { newId } from "../../src/foundation/id.ts";
import { createSpamMemory, type SpamMemory } from "../../src/history/spam-memory.ts";
import { createOutbox, createSqliteOutbox, type MayReply } from "../../src/outbox/queue/outbox.ts";
import type { Condition } from "../../src/outbox/queue/conditions.ts";
import { insertRecipient } from "../../src/outbox/queue/recipient-store.ts";
import { exampleSchema } from "./example-schema.ts";
import type {
  Batch,
  BatchWriter,
  CommitOutcome,
  PendingHeld,
  PendingSubmission,
} from "../../src/submissions/commit/batch.ts";
import {
  type CommitObserver,
  type CommitQueue,
  createCommitQueue,
} from "../../src/submissions/commit/commit-batch.ts";
import { type IdempotentPost, readIdempotencyKey } from "../../src/submissions/commit/idempotency.ts";
import {
  createPostgresqlBatch,
  type PostgresqlBatchParts,
} from "../../src/submissions/commit/postgresql-batch.ts";
import { createSqliteBatch } from "../../src/submissions/commit/sqlite-batch.ts";
import type { Submission } from "../../src/submissions/stored/submission.ts";
import { createUsageCounter } from "../../src/workspaces/usage-counter.ts";
import { insertAccountRows } from "../../src/workspaces/workspace-store.ts";
import { asSubmission } from "./add-submission.ts";
import { NOON } from "./fake-clock.ts";
import { newHeld } from "./held-posts.ts";

const plans = { hobby: { monthlySubmissions: null, endpoints: null, customSpam: false } };

/** Leaves the log to SQLite, as on a server that has no file for its database. */
export const NO_COPIER: LogCopier = {
  note() {},
  held: () => null,
  settle() {},
  close: () => Promise.resolve(),
};

/** The parts with which one server writes batches. */
export interface BatchServer {
  readonly write: BatchWriter;
  readonly queue: CommitQueue;
  readonly memory: SpamMemory;
  /** Returns the number of messages that the server queued. */
  readonly queued: () => number;
}

export interface BatchOptions {
  readonly maxHeld?: number | null;
  readonly mayReply?: MayReply | null;
  readonly observer?: CommitObserver;
}

/** Makes those parts of a server that store posts, on any engine. */
export function batchServer(
  db: Database,
  { maxHeld = null, mayReply = null, observer }: BatchOptions = {},
): BatchServer {
  const usage = createUsageCounter(db);
  const memory = createSpamMemory(null);
  const shared = { usage, memory, mayReply, held: { maxPerWorkspace: maxHeld } };
  const { outbox, write } =
    db.engine === "sqlite"
      ? onSqlite(db as SqliteDatabase, shared)
      : onPostgresql(db as PostgresqlDatabase, shared);
  const queue = createCommitQueue(write, observer);
  return { write, queue, memory, queued: () => outbox.queuedSoFar() };
}

type Shared = Omit<PostgresqlBatchParts, "db" | "outbox" | "onMemoryFailure">;

function onSqlite(db: SqliteDatabase, shared: Shared) {
  const outbox = createSqliteOutbox(db, shared.mayReply);
  return { outbox, write: createSqliteBatch({ ...shared, db, outbox, copier: NO_COPIER }) };
}

function onPostgresql(db: PostgresqlDatabase, shared: Shared) {
  const outbox = createOutbox();
  const onMemoryFailure = (error: unknown): never => {
    throw error;
  };
  return { outbox, write: createPostgresqlBatch({ ...shared, db, outbox, onMemoryFailure }) };
}

/** A workspace with one endpoint, and functions that make posts to it. */
export interface Place {
  readonly workspaceId: string;
  readonly endpointId: string;
  readonly pending: (
    more?: Partial<PendingSubmission> & { readonly of?: Partial<Submission> },
  ) => PendingSubmission;
  readonly held: (more?: Partial<PendingHeld>) => PendingHeld;
  readonly idempotent: (key: string, body?: string) => IdempotentPost;
  /** Adds a recipient that wants posts up to this score, and returns its id. */
  readonly recipient: (maxSpamScore: number, kind?: string, conditions?: Condition[]) => Promise<string>;
}

/** Makes an account with a workspace and an endpoint. @param name the name of the account, which must be new each time */
export async function addPlace(db: Database, name = "ana"): Promise<Place> {
  const { workspace } = await db.transaction(() => insertAccountRows(`${name}@example.org`, NOON));
  const made = { name: "Contact", definition: exampleSchema, settings: defaultEndpointSettings };
  const endpoint = await db.transaction(() => insertEndpointRow(workspace, made, plans, NOON));
  const [workspaceId, endpointId] = [workspace.id, endpoint.id];
  return {
    workspaceId,
    endpointId,
    pending: ({ of = {}, ...more } = {}) => ({
      kind: "submission",
      fileIds: null,
      proof: null,
      fields: exampleSchema,
      submission: asSubmission({ endpointId, data: { a: 1 }, createdAt: NOON, ...of }),
      workspaceId,
      monthlyLimit: null,
      idempotent: null,
      recollection: null,
      address: "192.0.2.1",
      trapped: false,
      ...more,
    }),
    held: (more = {}) => ({
      kind: "held",
      proof: null,
      ...newHeld({
        ...asSubmission({ id: newId("held", NOON), endpointId, data: { a: 1 }, createdAt: NOON }),
        workspaceId,
        why: "spam",
      }),
      recollection: null,
      ...more,
    }),
    idempotent(key, body = "{}") {
      const post = readIdempotencyKey(key, { endpointId, kind: "secret" }, Buffer.from(body));
      if (post === null) throw new Error("there is a key");
      return post;
    },
    async recipient(maxSpamScore, kind = "webhook", conditions = []) {
      const id = newId("wh", NOON);
      const recipient = { id, kind, endpointId, maxSpamScore, conditions, confirmedAt: NOON };
      await db.transaction(() => insertRecipient(recipient, NOON));
      return id;
    },
  };
}

/** Writes a batch and returns the outcome of each post. */
export async function outcomesOf(server: BatchServer, batch: Batch) {
  return (await server.write(batch)).outcomes;
}

/** Counts the posts by outcome. */
export function tally(outcomes: readonly CommitOutcome[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const outcome of outcomes) {
    const name = typeof outcome === "string" ? outcome : "repeated";
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}
