import { listParameter } from "../../database/list-parameter.ts";
import type { LogCopier } from "../../database/sqlite/copy-log.ts";
import type { SqliteDatabase } from "../../database/sqlite/sqlite-database.ts";
import { createEndpointLook } from "../../endpoints/sqlite-endpoints.ts";
import type { SpamMemory } from "../../history/spam-memory.ts";
import type { EventParts } from "../../outbox/queue/event.ts";
import type { Enqueue, SqliteOutbox } from "../../outbox/queue/outbox.ts";
import { createUsageTable } from "../../workspaces/sqlite-usage.ts";
import type { UsageCounter } from "../../workspaces/usage-counter.ts";
import {
  type Batch,
  type BatchWriter,
  type CommitOutcome,
  type Committed,
  createCounts,
  decide,
  type BatchFacts,
  holdersOf,
  idOf,
  isHeld,
  originHoldersOf,
  type PendingHeld,
  type PendingSubmission,
  recalledOf,
  type Repeated,
} from "./batch.ts";
import {
  ATTACH_HELD_SQL,
  ATTACH_SQL,
  COUNT_WHOLE_SQL,
  fileValues,
  INSERT_CHUNK_SQL,
  INSERT_FILE_SQL,
  type NewChunk,
} from "../../files/stored-file.ts";
import { AWAIT_SCAN_SQL } from "../../files/scan-store.ts";
import { evictForOrigin, evictHeld } from "../held/evict-held.ts";
import { createHeldPostWriter } from "../held/held-post.ts";
import { FIRST_SQL, type FirstPost, RECORD_KEY_SQL, REMEMBERED_MS } from "./idempotency.ts";
import { SPEND_SQL } from "./spent-proofs.ts";
import { AWAIT_VERDICT_SQL } from "../files/scanned-files.ts";
import { INSERT_NUMBERED_SQL, submissionValues } from "../stored/submission-store.ts";

export interface SqliteBatchParts {
  readonly db: SqliteDatabase;
  readonly usage: Pick<UsageCounter, "remember">;
  readonly outbox: Pick<SqliteOutbox, "transactionNow">;
  /** Copies the write-ahead log into the file while files are stored. */
  readonly copier: Pick<LogCopier, "note" | "held">;
  readonly memory: Pick<SpamMemory, "remember">;
  /** The largest number of held posts that a workspace keeps; null is unlimited. */
  readonly held: { readonly maxPerWorkspace: number | null };
}

/** Stores batches and chunks synchronously: while a statement runs, the process does nothing else. */
export function createSqliteBatch(parts: SqliteBatchParts): BatchWriter {
  const { db, usage, outbox, copier, memory } = parts;
  const table = createUsageTable(db);
  const files = createFileWriter(db);
  const store = createStorer(db, files);
  const keep = createKeeper(db, files);
  const endpoints = createEndpointLook(db);
  const spend = createSpender(db);
  const findFirst = createKeyLook(db);
  const storeChunk = (chunk: NewChunk): void => {
    // This commit acknowledges nothing. The commit of the post makes the chunk durable, with everything that is in the log before it.
    db.relaxedTransactionNow(() => files.store(chunk));
    copier.note(chunk.bytes.length);
  };
  const storePosts = (batch: Batch): Committed => {
    const counts = createCounts(table.read);
    const { outcomes, evictions } = outbox.transactionNow((enqueue) => {
      const endpointOf = endpoints();
      const found: BatchFacts = {
        workspaceOf: (endpointId) => endpointOf(endpointId)?.workspaceId,
        isStored: () => false,
        firstOf: findFirst,
        areWhole: files.areWhole,
        hasProof: spend,
      };
      const decided = batch.map((pending): CommitOutcome => {
        const outcome = decide(pending, found, counts);
        if (outcome !== "stored") return outcome;
        if (pending.kind === "held") keep(pending);
        else store(pending, enqueue, endpointOf(pending.submission.endpointId)?.number);
        return outcome;
      });
      for (const { workspaceId, month, before, used } of counts.all()) {
        if (used > before) table.write(workspaceId, month, used);
      }
      const accepted = batch.filter((_, index) => decided[index] === "stored");
      const kept = accepted.filter(isHeld);
      const recalled = accepted.flatMap(recalledOf);
      if (recalled.length > 0) db.now(() => memory.remember(recalled));
      const ofOrigins = originHoldersOf(kept).map(({ workspaceId, endpointId }) =>
        db.now(() => evictForOrigin(workspaceId, endpointId)),
      );
      const evicted = holdersOf(kept, parts.held.maxPerWorkspace).map(({ workspaceId, most, now }) =>
        db.now(() => evictHeld(workspaceId, most, now)),
      );
      const evictions = [...ofOrigins, ...evicted].filter((eviction) => eviction !== null);
      return { outcomes: decided, evictions };
    });
    for (const { workspaceId, month, used } of counts.all()) usage.remember(workspaceId, month, used);
    return { batch, outcomes, evictions, marks: counts.marks() };
  };
  const write = (batch: Batch, chunk?: NewChunk): Committed => {
    if (chunk !== undefined) storeChunk(chunk);
    return batch.length === 0 ? { batch, outcomes: [], evictions: [], marks: [] } : storePosts(batch);
  };
  return Object.assign(write, { heldChunks: copier.held });
}

/** Returns a function that spends the proof of a post; it returns false if another post had spent the proof. */
function createSpender(db: SqliteDatabase): (pending: PendingSubmission | PendingHeld) => boolean {
  const insert = db.prepare(SPEND_SQL);
  return (pending) => {
    const { proof } = pending;
    if (proof === null) return true;
    return insert.run(proof.id, idOf(pending), proof.expiresAt).changes > 0;
  };
}

/** Returns a function that finds the post that a release stored under the Idempotency-Key of a post while that was on its way. */
function createKeyLook(db: SqliteDatabase): (pending: PendingSubmission) => Repeated | undefined {
  const find = db.prepare(FIRST_SQL);
  return ({ idempotent, submission }) => {
    if (idempotent === null) return undefined;
    const { endpointId, kind, keyHash, bodyHash } = idempotent;
    const first = find.get(endpointId, kind, keyHash, submission.createdAt - REMEMBERED_MS) as
      | FirstPost
      | undefined;
    if (first === undefined) return undefined;
    return { firstId: first.body_hash.equals(bodyHash) ? first.submission_id : null };
  };
}

type FileWriter = ReturnType<typeof createFileWriter>;

/** Stores files chunk by chunk, and attaches them to their submission. */
function createFileWriter(db: SqliteDatabase) {
  const insertFile = db.prepare(INSERT_FILE_SQL);
  const insertChunk = db.prepare(INSERT_CHUNK_SQL);
  const countWhole = db.prepare(COUNT_WHOLE_SQL).pluck();
  const attach = db.prepare(ATTACH_SQL);
  const attachHeld = db.prepare(ATTACH_HELD_SQL);
  const awaitScan = db.prepare(AWAIT_SCAN_SQL);
  const awaitVerdict = db.prepare(AWAIT_VERDICT_SQL);
  return {
    store({ file, position, bytes }: NewChunk): void {
      if (position === 0) insertFile.run(...fileValues(file));
      insertChunk.run(file.id, position, bytes);
    },
    areWhole: (ids: readonly string[]) => countWhole.get(listParameter(ids)) === ids.length,
    attachHeld(heldId: string, ids: readonly string[], waitsUntil: number | null = null): void {
      attachHeld.run(heldId, listParameter(ids), heldId);
      if (waitsUntil !== null) awaitScan.run(waitsUntil, listParameter(ids));
    },
    attach(
      { submission, waitsUntil = null }: PendingSubmission,
      ids: readonly string[],
      event: EventParts,
    ): void {
      attach.run(submission.id, listParameter(ids));
      if (waitsUntil === null) return;
      awaitScan.run(waitsUntil, listParameter(ids));
      awaitVerdict.run(submission.id, waitsUntil, event.waiting ?? null);
    },
  };
}

function createStorer(
  db: SqliteDatabase,
  files: FileWriter,
): (pending: PendingSubmission, enqueue: Enqueue, endpointNumber: number | undefined) => void {
  const insert = db.prepare(INSERT_NUMBERED_SQL);
  const recordKey = db.prepare(RECORD_KEY_SQL);
  return (pending, enqueue, endpointNumber) => {
    const { submission, idempotent, fileIds } = pending;
    const event = enqueue(submission, submission.createdAt, pending);
    insert.run(...submissionValues(submission, event, endpointNumber));
    if (idempotent !== null) {
      const { endpointId, kind, keyHash, bodyHash } = idempotent;
      recordKey.run(endpointId, kind, keyHash, bodyHash, submission.id, submission.createdAt);
    }
    if (fileIds !== null) files.attach(pending, fileIds, event);
  };
}

function createKeeper(db: SqliteDatabase, files: FileWriter): (pending: PendingHeld) => void {
  const insert = createHeldPostWriter(db);
  return (pending) => {
    insert(pending);
    if (pending.fileIds) files.attachHeld(pending.held.id, pending.fileIds, pending.waitsUntil);
  };
}
