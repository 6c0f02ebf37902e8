import { query } from "../database/database.ts";
import { all, first, run, type Steps, text } from "../database/steps.ts";
import { LISTED_IDS, listParameter } from "../database/list-parameter.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { HOUR_MS } from "../foundation/time-units.ts";

/** What happens to a file that could not be scanned in time: `kept` lets everybody read it who sees its submission, `refused` nobody. */
export type WhenUnscanned = "kept" | "refused";

/** For this time only the server that scans a file may do so. Then another server may begin anew, unless the lease was renewed. */
export const SCAN_LEASE_MS = 30_000;
/** No scan and no end of a wait is planned further ahead than this, so a later time was planned by a clock that was ahead: it is over. */
export const LONGEST_SCAN_PLAN_MS = HOUR_MS;

/** Whether a planned time has come. */
export function isScanTime(time: number, now: number): boolean {
  return time <= now || time > now + LONGEST_SCAN_PLAN_MS;
}

/**
 * Makes files wait for the scanner, in the transaction that attaches them to their posts. The parameters are the end of the wait and a list
 * of ids.
 */
export const AWAIT_SCAN_SQL = `INSERT INTO file_scan (file_id, state, wait_until, due_at)
  SELECT id, 'scanning', ?, 0 FROM file WHERE id IN ${LISTED_IDS} AND state = 'stored'
  ON CONFLICT DO NOTHING`;

/** A file that is to be scanned now. */
export interface DueScan {
  readonly fileId: string;
  readonly size: number;
  /** Whether the bytes are missing because this database is a backup without them. */
  readonly isLeftOut: boolean;
  /** The number of scans that ended without a verdict. */
  readonly attempts: number;
  /** The end of the lease, with which {@link moveDue} renews it. */
  readonly leasedUntil: number;
}

const DUE_SQL = `SELECT file_scan.file_id AS file_id, attempts, due_at, size, is_left_out
  FROM file_scan JOIN file ON file.id = file_scan.file_id
  WHERE (due_at <= ? OR due_at > ?) AND (submission_id IS NOT NULL OR held_id IS NOT NULL) ORDER BY due_at, file_id LIMIT ?`;

interface DueRow {
  readonly file_id: string;
  readonly attempts: number;
  readonly due_at: number;
  readonly size: number;
  readonly is_left_out: number;
}

/** Takes files that are due, those that wait longest first. Other servers do not take them until the lease ends. */
export function* claimScans(now: number, most: number): Steps<DueScan[]> {
  const claimed: DueScan[] = [];
  for (const row of yield* all(text<DueRow>(DUE_SQL, now, now + LONGEST_SCAN_PLAN_MS, most))) {
    const leasedUntil = now + SCAN_LEASE_MS;
    if (!(yield* moveDue(row.file_id, row.due_at, leasedUntil))) continue;
    claimed.push({
      fileId: row.file_id,
      size: row.size,
      isLeftOut: row.is_left_out === 1,
      attempts: row.attempts,
      leasedUntil,
    });
  }
  return claimed;
}

/**
 * Changes the time at which a file is due; null is never. Returns false if the time was not `from` any more, because another server took
 * the file.
 */
export function* moveDue(fileId: string, from: number, to: number | null): Steps<boolean> {
  const rows = query.updateTable("file_scan").set({ due_at: to });
  return (yield* run(rows.where("file_id", "=", fileId).where("due_at", "=", from))) === 1;
}

/** Notes a scan without a verdict. @param dueAt when to scan again; null gives the file up, and ends its wait */
export function* postponeScan(fileId: string, attempts: number, dueAt: number | null): Steps<void> {
  const rows = query
    .updateTable("file_scan")
    .set({ attempts, due_at: dueAt, ...(dueAt === null && { wait_until: 0 }) });
  yield* run(rows.where("file_id", "=", fileId));
}

/** Ends all leases after a start, when no process scans files of this database. */
export function endLeases(): Steps<number> {
  return run(query.updateTable("file_scan").set({ due_at: 0 }).where("due_at", "is not", null));
}

/** Applies the setting to files that were not scanned in time before it changed. */
export function* applyWhenUnscanned(state: WhenUnscanned): Steps<number> {
  const other = state === "kept" ? "refused" : "kept";
  return yield* run(query.updateTable("file_scan").set({ state }).where("state", "=", other));
}

/** Ends the wait for the scanner, after the file was found clean or infected. */
export function forgetScan(fileId: string): Steps<number> {
  return run(query.deleteFrom("file_scan").where("file_id", "=", fileId));
}

/** Ends the state `scanning` of files that could not be scanned in time. */
export function endWait(fileIds: readonly string[], state: WhenUnscanned): Steps<number> {
  return run(text(END_WAIT_SQL, state, listParameter(fileIds)));
}

const END_WAIT_SQL = `UPDATE file_scan SET state = ?
  WHERE state = 'scanning' AND file_id IN ${LISTED_IDS}`;

/** The submission or held post that a file belongs to. */
export interface ScanOwner {
  readonly kind: "submission" | "held";
  readonly id: string;
}

const OF_OWNER = {
  submission: `SELECT file_id FROM file_scan JOIN file ON file.id = file_id WHERE submission_id = ? AND file_scan.state = 'scanning'`,
  held: `SELECT file_id FROM file_scan JOIN file ON file.id = file_id WHERE held_id = ? AND file_scan.state = 'scanning'`,
} as const;

/** The files of a post that are still `scanning`. */
export function* listScanning({ kind, id }: ScanOwner): Steps<string[]> {
  return (yield* all(text<{ readonly file_id: string }>(OF_OWNER[kind], id))).map((row) => row.file_id);
}

/** The time until which the last of a held post's files is `scanning`; null if none is. */
export function* lastWaitOfHeld(heldId: string): Steps<number | null> {
  const sql = `SELECT max(wait_until) AS until FROM file_scan JOIN file ON file.id = file_id
    WHERE held_id = ? AND file_scan.state = 'scanning'`;
  return (yield* first(text<{ readonly until: number | null }>(sql, heldId)))?.until ?? null;
}

/** Lists the owners of files that are `scanning` although their time is over. */
export function* listLate(now: number, most: number): Steps<ScanOwner[]> {
  const sql = `SELECT DISTINCT submission_id, held_id FROM file_scan JOIN file ON file.id = file_id
    WHERE file_scan.state = 'scanning' AND (wait_until <= ? OR wait_until > ?)
      AND (submission_id IS NOT NULL OR held_id IS NOT NULL) LIMIT ?`;
  const rows = yield* all(text<OwnerRow>(sql, now, now + LONGEST_SCAN_PLAN_MS, most));
  return rows.map(toOwner).filter((owner) => owner !== undefined);
}

/** The times at which the next file is due and at which the next wait ends; null if there is none. */
export interface NextScan {
  readonly dueAt: number | null;
  readonly waitUntil: number | null;
}

export function* nextScan(): Steps<NextScan> {
  const sql = `SELECT (SELECT min(due_at) FROM file_scan WHERE due_at IS NOT NULL) AS due_at,
    (SELECT min(wait_until) FROM file_scan WHERE state = 'scanning') AS wait_until`;
  const row = yield* first(text<{ readonly due_at: number | null; readonly wait_until: number | null }>(sql));
  return { dueAt: row?.due_at ?? null, waitUntil: row?.wait_until ?? null };
}

/**
 * Finds the present owner of a file, because a held post may have been released. Undefined if the file belongs to nothing, or does not wait
 * for the scanner.
 */
export function* findScanOwner(fileId: string): Steps<ScanOwner | undefined> {
  const sql = `SELECT submission_id, held_id FROM file_scan JOIN file ON file.id = file_id WHERE file_id = ?`;
  const row = yield* first(text<OwnerRow>(sql, fileId));
  return row && toOwner(row);
}

interface OwnerRow {
  readonly submission_id: string | null;
  readonly held_id: string | null;
}

function toOwner({ submission_id: submission, held_id: held }: OwnerRow): ScanOwner | undefined {
  if (submission !== null) return { kind: "submission", id: submission };
  return held === null ? undefined : { kind: "held", id: held };
}

/** Counts files without a verdict: `scanning` may still get one in time, `unscanned` did not. */
export function* countUnscanned(): Steps<{ readonly scanning: number; readonly unscanned: number }> {
  const sql = `SELECT coalesce(sum(CASE state WHEN 'scanning' THEN 1 ELSE 0 END), 0) AS scanning, count(*) AS files FROM file_scan`;
  const row = yield* first(text<{ readonly scanning: number; readonly files: number }>(sql));
  const scanning = row?.scanning ?? 0;
  return { scanning, unscanned: (row?.files ?? 0) - scanning };
}

/** Counts and times of all files without a verdict. */
export interface ScanBacklog {
  readonly files: number;
  /** The number of files that will not be scanned again. */
  readonly givenUp: number;
  /** The time when the oldest of them came, in milliseconds; null if there is none. */
  readonly since: number | null;
  /** The time when the oldest that will be scanned again came, in milliseconds; null if there is none. */
  readonly dueSince: number | null;
}

export function* countBacklog(): Steps<ScanBacklog> {
  const sql = `SELECT count(*) AS files, count(due_at) AS due, min(created_at) AS since,
      min(CASE WHEN due_at IS NOT NULL THEN created_at END) AS due_since
    FROM file_scan JOIN file ON file.id = file_scan.file_id WHERE submission_id IS NOT NULL OR held_id IS NOT NULL`;
  const row = yield* first(text<BacklogRow>(sql));
  if (row === undefined) throw new Error("a count has no row");
  const { files, due, since, due_since: dueSince } = row;
  return { files, givenUp: files - due, since, dueSince };
}

interface BacklogRow {
  readonly files: number;
  readonly due: number;
  readonly since: number | null;
  readonly due_since: number | null;
}

/** @throws conflict while the file is being scanned; forbidden if it could not be scanned and `files.whenUnscanned` is `refuse` */
export function* refuseUnscanned(fileId: string): Steps<void> {
  const row = yield* first(query.selectFrom("file_scan").select("state").where("file_id", "=", fileId));
  if (row?.state === "scanning")
    throw new FormsvcError("conflict", "the file is being scanned for viruses; try again shortly", {
      retryAfterSeconds: 2,
    });
  if (row?.state === "refused")
    throw new FormsvcError(
      "forbidden",
      "the file could not be scanned for viruses, and this server lets nobody open such files",
    );
}
