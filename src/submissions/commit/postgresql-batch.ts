import type { BatchTransaction } from "../../database/postgresql/batch-connection.ts";
import type { PostgresqlDatabase } from "../../database/postgresql/open-postgresql.ts";
import { attachFiles, attachHeldFiles, lockWholeFiles, writeChunk } from "../../files/postgresql-files.ts";
import type { NewChunk } from "../../files/stored-file.ts";
import { type LockedEndpoint, LOCK_ENDPOINTS } from "../../endpoints/postgresql-endpoints.ts";
import { monthOf } from "../../foundation/clock.ts";
import { rememberAfterwards } from "../../history/remember-afterwards.ts";
import type { SpamMemory } from "../../history/spam-memory.ts";
import { type MayReply, NewMessages, type Outbox, replyTo } from "../../outbox/queue/outbox.ts";
import {
  INSERT_ROWS,
  LOCK_QUOTAS,
  LOCK_RECIPIENTS,
  type LockedRecipient,
} from "../../outbox/engines/postgresql-outbox.ts";
import { ADD_USAGE, LOCK_USAGE, type UsedRow, WRITE_USAGE } from "../../workspaces/postgresql-usage.ts";
import type { UsageCounter } from "../../workspaces/usage-counter.ts";
import type { UsageMark } from "../../workspaces/usage-mark.ts";
import {
  type Batch,
  type BatchCounts,
  type CommitOutcome,
  type Committed,
  createCounts,
  decide,
  endpointOf,
  type BatchFacts,
  holdersOf,
  idOf,
  isHeld,
  isSubmission,
  originHoldersOf,
  type PendingHeld,
  type PendingSubmission,
  recalledOf,
  type Repeated,
} from "./batch.ts";
import { countEvicted, type Eviction, type HeldCount, MAX_EVICTED, passedBound } from "../held/evict-held.ts";
import type { HeldPost } from "../held/held-post.ts";
import {
  awaitVerdicts,
  contentJson,
  COUNT_HELD,
  EVICT_HELD,
  EVICT_ORIGINS,
  FIND_FIRST,
  FIND_STORED,
  type FirstRow,
  FORGET_KEYS,
  INSERT_SUBMISSIONS,
  type KeyJson,
  RECORD_KEYS,
  type ScanWaitJson,
  writeHeld,
} from "./postgresql-statements.ts";
import { returnProofs, spendProofs } from "./postgresql-proofs.ts";

export interface PostgresqlBatchParts {
  readonly db: Pick<PostgresqlDatabase, "batches" | "relaxedTransaction">;
  readonly usage: Pick<UsageCounter, "remember">;
  readonly outbox: Pick<Outbox, "announce">;
  readonly memory: Pick<SpamMemory, "remember">;
  /** The largest number of held posts that a workspace keeps; null is unlimited. */
  readonly held: { readonly maxPerWorkspace: number | null };
  /** Decides whether a sender gets an automatic reply; null if nobody does. */
  readonly mayReply: MayReply | null;
  /** Called when the texts of stored posts could not be added to the spam memory. */
  readonly onMemoryFailure: (error: unknown) => void;
}

/**
 * Stores batches in two round trips. The first locks the rows that decide: the counts of the months, then endpoints and their recipients.
 * The second writes and commits. All servers take these locks in the same order, so batches never deadlock.
 */
export function createPostgresqlBatch(
  parts: PostgresqlBatchParts,
): (batch: Batch, chunk?: NewChunk) => Promise<Committed> {
  const { db, usage, outbox } = parts;
  const remember = rememberAfterwards(db, parts.memory, parts.onMemoryFailure);
  const unreported: UnreportedMarks = new Map();
  return async (batch, chunk) => {
    const { outcomes, counts, messages, evictions } = await db.batches.transaction((transaction) =>
      writeBatch(transaction, { batch, chunk }, parts, unreported),
    );
    for (const { workspaceId, month, used } of counts.all()) usage.remember(workspaceId, month, used);
    outbox.announce(messages);
    remember(batch.filter((_, index) => outcomes[index] === "stored").flatMap(recalledOf));
    const marks = [...unreported.values()];
    unreported.clear();
    return { batch, outcomes, evictions, marks };
  };
}

/**
 * Shares of monthly limits that were reached, until a commit is confirmed. A retry does not count stored submissions again, so a share
 * whose commit passed unheard is reported with the next one. If that commit was undone, the share is reported once more when it is reached.
 */
type UnreportedMarks = Map<string, UsageMark>;

interface Written {
  readonly outcomes: readonly CommitOutcome[];
  readonly counts: BatchCounts;
  readonly messages: NewMessages;
  readonly evictions: readonly Eviction[];
}

/** Writes a batch. Its last statement is the commit. */
async function writeBatch(
  transaction: BatchTransaction,
  { batch, chunk }: { readonly batch: Batch; readonly chunk: NewChunk | undefined },
  { held: { maxPerWorkspace }, mayReply }: PostgresqlBatchParts,
  unreported: UnreportedMarks,
): Promise<Written> {
  const stored = chunk === undefined ? [] : writeChunk(transaction, chunk);
  const locked = await lock(transaction, batch);
  const counts = createCounts((workspaceId, month) => locked.used.get(unitOf(workspaceId, month)) ?? 0);
  const found = foundBy(locked);
  const outcomes = batch.map((pending) => decide(pending, found, counts));
  for (const mark of counts.marks())
    unreported.set(`${unitOf(mark.workspaceId, mark.month)} ${mark.percent}`, mark);
  const accepted = batch.filter((_, index) => outcomes[index] === "stored");
  const refused = batch.filter((_, index) => outcomes[index] !== "stored");
  const submissions = accepted.filter(isSubmission);
  const fresh = submissions.filter(({ submission }) => !locked.there.has(submission.id));
  const replied = mayReply === null ? NONE : await decideReplies(transaction, fresh, locked, mayReply);
  const messages = new NewMessages();
  const held = accepted.filter(isHeld);
  const written = [
    ...stored,
    ...writeSubmissions(transaction, fresh, { ...locked, replied }, messages),
    ...attachFiles(transaction, fresh),
    ...writeCounts(transaction, counts),
    ...forgetKeys(transaction, refused.filter(isSubmission)),
    ...returnProofs(transaction, refused),
    ...writeHeld(transaction, held),
    ...attachHeldFiles(transaction, held),
  ];
  const evictions = await evictAndCommit(transaction, written, held, maxPerWorkspace);
  return { outcomes, counts, messages, evictions };
}

/** What a batch has read and locked before it decides on its posts. */
interface Locked {
  /** The number of accepted submissions, by {@link unitOf}. */
  readonly used: ReadonlyMap<string, number>;
  /** The endpoints that exist, by id. */
  readonly endpoints: ReadonlyMap<string, LockedEndpoint>;
  /** The recipients, by endpoint. */
  readonly recipients: ReadonlyMap<string, readonly LockedRecipient[]>;
  /** Files with all their bytes stored. */
  readonly wholeFiles: ReadonlySet<string>;
  /** Submissions that an earlier attempt at this batch stored. */
  readonly there: ReadonlySet<string>;
  /** The first posts with the same Idempotency-Keys, by the id of the repeated submission. */
  readonly repeated: ReadonlyMap<string, Repeated>;
  readonly spent: ReadonlySet<string>;
}

async function lock(transaction: BatchTransaction, batch: Batch): Promise<Locked> {
  const submissions = batch.filter(isSubmission);
  const units = unitsOf(submissions);
  const wanted = [units.map(({ workspaceId }) => workspaceId), units.map(({ month }) => month)];
  const endpointIds = [...new Set(batch.map(endpointOf))];
  const keys = submissions.flatMap(keyOf);
  const [counted, endpoints, recipients, recorded, wholeFiles] = await Promise.all([
    transaction.query<UsedRow>(LOCK_USAGE, ...wanted),
    transaction.query<LockedEndpoint>(LOCK_ENDPOINTS, endpointIds),
    transaction.query<LockedRecipient>(LOCK_RECIPIENTS, endpointIds),
    keys.length === 0 ? [] : transaction.query<{ submission_id: string }>(RECORD_KEYS, JSON.stringify(keys)),
    lockWholeFiles(transaction, submissions),
  ]);
  const used = counted.length === units.length ? counted : await addCounts(transaction, wanted);
  const won = new Set(recorded.map(({ submission_id: id }) => id));
  return {
    used: new Map(used.map((row) => [unitOf(row.workspace_id, row.month), row.used])),
    endpoints: new Map(endpoints.map((endpoint) => [endpoint.id, endpoint])),
    recipients: Map.groupBy(recipients, ({ endpoint_id: id }) => id),
    wholeFiles,
    there: transaction.isRetry ? await findStored(transaction, submissions) : NONE,
    repeated: await findFirst(
      transaction,
      keys.filter(({ submission_id: id }) => !won.has(id)),
    ),
    spent: await spendProofs(transaction, batch),
  };
}

/** Adds rows for counts that have none, as for the first post of a workspace in a month: nothing could be locked without a row. */
async function addCounts(
  transaction: BatchTransaction,
  wanted: readonly (readonly unknown[])[],
): Promise<UsedRow[]> {
  const [, counted] = await Promise.all([
    transaction.query(ADD_USAGE, ...wanted),
    transaction.query<UsedRow>(LOCK_USAGE, ...wanted),
  ]);
  return counted;
}

const NONE: ReadonlySet<string> = new Set();

/** Finds submissions that an earlier attempt stored. Runs behind the locks of the counts, which an open attempt would hold. */
async function findStored(
  transaction: BatchTransaction,
  submissions: readonly PendingSubmission[],
): Promise<ReadonlySet<string>> {
  const ids = submissions.map(({ submission }) => submission.id);
  const rows = await transaction.query<{ id: string }>(FIND_STORED, ids);
  return new Set(rows.map(({ id }) => id));
}

async function findFirst(
  transaction: BatchTransaction,
  lost: readonly KeyJson[],
): Promise<ReadonlyMap<string, Repeated>> {
  if (lost.length === 0) return new Map();
  const rows = await transaction.query<FirstRow>(FIND_FIRST, JSON.stringify(lost));
  return new Map(
    rows.map((row) => [row.asked_id, { firstId: row.has_same_body ? row.submission_id : null }]),
  );
}

function foundBy({ endpoints, there, repeated, wholeFiles, spent }: Locked): BatchFacts {
  return {
    workspaceOf: (id) => endpoints.get(id)?.workspace_id,
    isStored: (id) => there.has(id),
    firstOf: ({ submission }) => repeated.get(submission.id),
    areWhole: (ids) => ids.every((id) => wholeFiles.has(id)),
    hasProof: (pending) => !spent.has(idOf(pending)),
  };
}

/** Chooses the submissions whose sender gets an automatic reply. Runs no statement if no endpoint has one. */
async function decideReplies(
  transaction: BatchTransaction,
  pending: readonly PendingSubmission[],
  { recipients }: Locked,
  mayReply: MayReply,
): Promise<ReadonlySet<string>> {
  const asked = pending.flatMap((each) => {
    const reply = replyTo(recipients.get(each.submission.endpointId) ?? [], each.submission);
    return reply === undefined ? [] : [{ posted: each, recipientId: reply.id }];
  });
  if (asked.length === 0) return NONE;
  await transaction.query(LOCK_QUOTAS);
  const replied = new Set<string>();
  for (const { posted, recipientId } of asked) {
    const { id, createdAt } = posted.submission;
    if (await transaction.run(mayReply(recipientId, posted, createdAt))) replied.add(id);
  }
  return replied;
}

function writeSubmissions(
  transaction: BatchTransaction,
  pending: readonly PendingSubmission[],
  { endpoints, recipients, replied }: Locked & { readonly replied: ReadonlySet<string> },
  messages: NewMessages,
): Promise<unknown>[] {
  if (pending.length === 0) return [];
  const waits: ScanWaitJson[] = [];
  const rows = pending.map((posted) => {
    const { submission, fields, waitsUntil = null } = posted;
    const { endpointId, createdAt } = submission;
    const known = recipients.get(endpointId) ?? [];
    const { head, tail, notSent, waiting } = messages.add(submission, known, createdAt, {
      isReplied: replied.has(submission.id),
      isLater: waitsUntil !== null,
      conditionData: { data: submission.data, fields },
    });
    if (waitsUntil !== null)
      waits.push({ submission_id: submission.id, until: waitsUntil, recipients: waiting });
    const endpointNumber = endpoints.get(endpointId)?.number;
    return Object.assign(contentJson(submission), {
      endpoint_number: endpointNumber,
      event_head: head,
      event_tail: tail,
      ...(notSent !== null && { not_sent: notSent }),
    });
  });
  const stored = [
    transaction.query(INSERT_SUBMISSIONS, JSON.stringify(rows)),
    ...awaitVerdicts(transaction, waits),
  ];
  if (messages.count === 0) return stored;
  const queued = [...messages.rows()].map(([recipient_id, queued_at, message_count, texts]) => ({
    recipient_id,
    queued_at,
    message_count,
    messages: texts,
  }));
  return [...stored, transaction.query(INSERT_ROWS, JSON.stringify(queued))];
}

function writeCounts(transaction: BatchTransaction, counts: BatchCounts): Promise<unknown>[] {
  const changed: UsedRow[] = [...counts.all()]
    .filter(({ before, used }) => used > before)
    .map(({ workspaceId, month, used }) => ({ workspace_id: workspaceId, month, used }));
  return changed.length === 0 ? [] : [transaction.query(WRITE_USAGE, JSON.stringify(changed))];
}

/** Forgets the Idempotency-Keys of refused posts, so that each can be tried again. */
function forgetKeys(
  transaction: BatchTransaction,
  refused: readonly PendingSubmission[],
): Promise<unknown>[] {
  const keys = refused.flatMap(keyOf);
  return keys.length === 0 ? [] : [transaction.query(FORGET_KEYS, JSON.stringify(keys))];
}

/** Deletes held posts that exceed the bounds of their workspace, in the same round trip as the commit. */
async function evictAndCommit(
  transaction: BatchTransaction,
  written: readonly Promise<unknown>[],
  held: readonly PendingHeld[],
  maxHeld: number | null,
): Promise<Eviction[]> {
  const ofOrigins = originHoldersOf(held).map(async ({ workspaceId, endpointId }) => {
    const gone = await transaction.query<{ why: HeldPost["why"] }>(EVICT_ORIGINS, endpointId);
    const whys = gone.map(({ why }) => why);
    return countEvicted(workspaceId, "origins", whys);
  });
  const evicting = holdersOf(held, maxHeld).map(async ({ workspaceId, most, now }) => {
    const [[count], gone] = await Promise.all([
      transaction.query<HeldCount>(COUNT_HELD, workspaceId),
      transaction.query<{ why: HeldPost["why"] }>(
        EVICT_HELD,
        workspaceId,
        most.posts,
        most.bytes,
        MAX_EVICTED,
        now,
      ),
    ]);
    const bound = count === undefined ? null : passedBound(count, most);
    const whys = gone.map(({ why }) => why);
    return bound === null ? null : countEvicted(workspaceId, bound, whys);
  });
  const [evictions] = await Promise.all([
    Promise.all([...ofOrigins, ...evicting]),
    transaction.commit(),
    ...written,
  ]);
  return evictions.filter((eviction) => eviction !== null);
}

interface Unit {
  readonly workspaceId: string;
  readonly month: string;
}

/** The workspaces and months that these submissions count for, each once. */
function unitsOf(submissions: readonly PendingSubmission[]): Unit[] {
  const units = new Map<string, Unit>();
  let last: Unit | undefined;
  for (const { workspaceId, submission } of submissions) {
    const month = monthOf(submission.createdAt);
    // Usually all submissions of a batch count for the same workspace and month.
    if (last?.workspaceId === workspaceId && last.month === month) continue;
    last = { workspaceId, month };
    units.set(unitOf(workspaceId, month), last);
  }
  return [...units.values()];
}

function unitOf(workspaceId: string, month: string): string {
  return `${workspaceId} ${month}`;
}

function keyOf({ submission, idempotent }: PendingSubmission): KeyJson[] {
  if (idempotent === null) return [];
  return [
    {
      endpoint_id: idempotent.endpointId,
      kind: idempotent.kind,
      key_hash: idempotent.keyHash.toString("hex"),
      body_hash: idempotent.bodyHash.toString("hex"),
      submission_id: submission.id,
      created_at: submission.createdAt,
    },
  ];
}
