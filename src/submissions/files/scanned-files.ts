import { query } from "../../database/database.ts";
import { all, first, run, type Steps, text } from "../../database/steps.ts";
import { findSchema } from "../../endpoints/endpoint-store.ts";
import { listFileIdsOf, releaseFile } from "../../files/file-store.ts";
import {
  endWait,
  findScanOwner,
  forgetScan,
  listLate,
  listScanning,
  LONGEST_SCAN_PLAN_MS,
  type ScanOwner,
  type WhenUnscanned,
} from "../../files/scan-store.ts";
import { isFileList, type ListedFile } from "../../foundation/file-list.ts";
import type { ConditionData } from "../../outbox/queue/conditions.ts";
import type { EventParts, NotifiedSubmission } from "../../outbox/queue/event.ts";
import { queueSubmission, queueWaiting } from "../../outbox/queue/queue-submission.ts";
import { findSubmission } from "../stored/submission-store.ts";
import type { Submission } from "../stored/submission.ts";

type Data = Submission["data"];

/** Returns the data of a submission as JSON, with a link for each of its files. @param own the ids of its files */
export type LinkRow = (data: Data, now: number, own: readonly string[]) => Steps<string>;

/** The state and verdict of a file in a submission's data; a file that can simply be read has neither. */
export interface FileState {
  readonly state?: "scanning" | "infected" | "unscanned" | "deleted";
  /** The name of the virus that the scanner found. */
  readonly verdict?: string;
}

/** Returns the data with new states for some of its files. @param states by the id of the file */
export function withStates(data: Data, states: ReadonlyMap<string, FileState>): Data {
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => [
      name,
      isFileList(value) ? value.map((file) => withState(file, states.get(file.id))) : value,
    ]),
  );
}

function withState(file: ListedFile, given: FileState | undefined): ListedFile {
  if (given === undefined) return file;
  const { state: _state, verdict: _verdict, ...facts } = file;
  return { ...facts, ...given };
}

/** Returns the data of a post with its files in the state `scanning`. */
export function withScanning(data: Data, fileIds: readonly string[]): Data {
  return withStates(data, new Map(fileIds.map((id) => [id, { state: "scanning" }])));
}

/** Records that a file is clean: whoever may see its post may read it from now on. */
export function* recordClean(fileId: string): Steps<void> {
  const owner = yield* findScanOwner(fileId);
  if (owner !== undefined) yield* markFiles(owner, [fileId], {});
  yield* forgetScan(fileId);
}

/**
 * Records that a file has a virus. Its post keeps the file's name and size, with the verdict. Call `dropFiles` after it. Returns the post
 * that the file belongs to; undefined if the file is gone.
 */
export function* recordInfected(fileId: string, virus: string): Steps<ScanOwner | undefined> {
  const owner = yield* findScanOwner(fileId);
  if (owner === undefined) return undefined;
  yield* markFiles(owner, [fileId], { state: "infected", verdict: virus });
  yield* forgetScan(fileId);
  yield* releaseFile(fileId);
  return owner;
}

function* markFiles(owner: ScanOwner, fileIds: readonly string[], state: FileState): Steps<void> {
  const row = yield* first(
    owner.kind === "submission"
      ? query.selectFrom("submission").select("data").where("id", "=", owner.id)
      : query.selectFrom("held").select("data").where("id", "=", owner.id),
  );
  if (row === undefined) return;
  const marked = withStates(JSON.parse(row.data) as Data, new Map(fileIds.map((id) => [id, state])));
  const data = JSON.stringify(marked);
  yield* run(
    owner.kind === "submission"
      ? query.updateTable("submission").set({ data }).where("id", "=", owner.id)
      : query.updateTable("held").set({ data }).where("id", "=", owner.id),
  );
}

/**
 * Makes the messages about a submission wait until its files are scanned, at the latest until a time. Runs inside the transaction that
 * stores the submission, which has chosen the recipients: `EventParts.waiting`.
 */
export const AWAIT_VERDICT_SQL =
  "INSERT INTO scan_wait (submission_id, until, recipients) VALUES (?, ?, ?) ON CONFLICT DO NOTHING";

export function awaitVerdict(submissionId: string, until: number, { waiting }: EventParts): Steps<number> {
  return run(text(AWAIT_VERDICT_SQL, submissionId, until, waiting ?? null));
}

/** The time when the first wait of a submission's messages ends; null if none waits. */
export function* nextWaitEnd(): Steps<number | null> {
  const row = yield* first(
    text<{ readonly until: number | null }>("SELECT min(until) AS until FROM scan_wait"),
  );
  return row?.until ?? null;
}

/** Ends the waits of files that were not scanned in time: marks them as `unscanned`. Returns the posts that they belong to. */
export function* endLateWaits(state: WhenUnscanned, now: number, most: number): Steps<readonly ScanOwner[]> {
  const owners = yield* listLate(now, most);
  for (const owner of owners) yield* endWaitOf(owner, state);
  return owners;
}

function* endWaitOf(owner: ScanOwner, state: WhenUnscanned): Steps<void> {
  const fileIds = yield* listScanning(owner);
  if (fileIds.length === 0) return;
  yield* endWait(fileIds, state);
  yield* markFiles(owner, fileIds, { state: "unscanned" });
}

/** Lists the submissions whose messages need not wait any more: all their files are scanned, or the time is over. */
export function* listSettled(now: number, most: number): Steps<string[]> {
  const settled = text<{ readonly id: string }>(SETTLED_SQL, now, now + LONGEST_SCAN_PLAN_MS, most);
  return (yield* all(settled)).map(({ id }) => id);
}

const SETTLED_SQL = `SELECT submission_id AS id FROM scan_wait WHERE until <= ? OR until > ? OR NOT EXISTS (
    SELECT 1 FROM file JOIN file_scan ON file_scan.file_id = file.id
    WHERE file.submission_id = scan_wait.submission_id AND file_scan.state = 'scanning')
  ORDER BY until, submission_id LIMIT ?`;

interface Settling {
  readonly state: WhenUnscanned;
  readonly linkFiles: LinkRow;
  readonly now: number;
}

/**
 * Queues the messages that waited for a submission's files. Their body says what became of each file. Returns whether messages waited; a
 * second call returns false. The automatic reply does not wait: it was queued with the post.
 */
export function* settleWait(submissionId: string, { state, linkFiles, now }: Settling): Steps<boolean> {
  const wait = yield* first(
    query.deleteFrom("scan_wait").where("submission_id", "=", submissionId).returning("recipients"),
  );
  if (wait === undefined) return false;
  yield* endWaitOf({ kind: "submission", id: submissionId }, state);
  const submission = yield* findSubmission(submissionId);
  if (submission === undefined) return false;
  const own = yield* listFileIdsOf([submissionId]);
  const notified = { ...submission, linkedData: yield* linkFiles(submission.data, now, own) };
  const { head, tail, notSent } = yield* queueWaited(notified, now, wait.recipients);
  const row = query.updateTable("submission").where("id", "=", submissionId);
  // Without a recipient, the automatic reply still needs the body that came with the post.
  if (head !== null) yield* run(row.set({ event_head: head, event_tail: tail }));
  if (notSent !== null) yield* run(row.set({ not_sent: notSent }));
  return true;
}

/**
 * @param waiting the recipients that were chosen when the post was stored; null if an earlier version stored it, and they are chosen now.
 */
function* queueWaited(
  submission: Submission & NotifiedSubmission,
  now: number,
  waiting: string | null,
): Steps<EventParts> {
  if (waiting === null) return yield* queueSubmission(submission, now, () => conditionDataOf(submission));
  return { ...(yield* queueWaiting(submission, now, waiting)), notSent: null };
}

/**
 * Returns the data and the fields of the schema that the post was checked with. If that schema is deleted, there are no fields, and so no
 * condition keeps a message back.
 */
export function* conditionDataOf({ endpointId, schemaVersion, data }: Submission): Steps<ConditionData> {
  return { data, fields: (yield* findSchema(endpointId, schemaVersion)) ?? {} };
}
