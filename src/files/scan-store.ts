import { query } from "../database/database.ts";
import { all, first, run, type Steps, text } from "../database/steps.ts";
import { LISTED, listParameter } from "../database/list-parameter.ts";
import { FormsvcError } from "../foundation/errors.ts";

/** What becomes of a file that could not be scanned in time: anybody who sees its submission may read it, or nobody. */
export type WhenUnscanned = "kept" | "refused";

/** Time in which a scan shows that it goes on; then another server begins it anew. */
export const SCAN_LEASE_MS = 30_000;

/** Puts the files of these submissions and held posts before the scanner, in the transaction that gives the files to them. */
export const AWAIT_SCAN_SQL = `INSERT INTO file_scan (file_id, state, wait_until, due_at)
  SELECT id, 'scanning', ?, 0 FROM file WHERE id IN ${LISTED} AND state = 'stored'
  ON CONFLICT DO NOTHING`;

/** A file whose turn has come. */
export interface DueScan {
  readonly fileId: string;
  readonly size: number;
  /** Whether its bytes are not here, because this database is a backup without them. */
  readonly isLeftOut: boolean;
  /** Scans that ended without a verdict. */
  readonly attempts: number;
  /** What {@link renewLease} must find. */
  readonly leasedUntil: number;
}

const DUE_SQL = `SELECT file_scan.file_id AS file_id, attempts, due_at, size, is_left_out
  FROM file_scan JOIN file ON file.id = file_scan.file_id
  WHERE due_at <= ? AND (submission_id IS NOT NULL OR held_id IS NOT NULL) ORDER BY due_at, file_id LIMIT ?`;

interface DueRow {
  readonly file_id: string;
  readonly attempts: number;
  readonly due_at: number;
  readonly size: number;
  readonly is_left_out: number;
}

/** Takes files whose turn has come, those that wait longest first. Another server does not take them until the lease ends. */
export function* claimScans(now: number, most: number): Steps<DueScan[]> {
  const claimed: DueScan[] = [];
  for (const row of yield* all(text<DueRow>(DUE_SQL, now, most))) {
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

/** Returns whether the file was still due at that time. */
export function* moveDue(fileId: string, from: number, to: number | null): Steps<boolean> {
  const rows = query.updateTable("file_scan").set({ due_at: to });
  return (yield* run(rows.where("file_id", "=", fileId).where("due_at", "=", from))) === 1;
}

/** Notes a scan without a verdict. @param dueAt null gives the file up: nothing waits for it any longer */
export function* postponeScan(fileId: string, attempts: number, dueAt: number | null): Steps<void> {
  const rows = query
    .updateTable("file_scan")
    .set({ attempts, due_at: dueAt, ...(dueAt === null && { wait_until: 0 }) });
  yield* run(rows.where("file_id", "=", fileId));
}

/** After a start: no process of this database scans, so nothing is leased. */
export function endLeases(): Steps<number> {
  return run(query.updateTable("file_scan").set({ due_at: 0 }).where("due_at", "is not", null));
}

/** The setting holds for files of before, too. */
export function* applyWhenUnscanned(state: WhenUnscanned): Steps<number> {
  const other = state === "kept" ? "refused" : "kept";
  return yield* run(query.updateTable("file_scan").set({ state }).where("state", "=", other));
}

/** The file is clean. */
export function forgetScan(fileId: string): Steps<number> {
  return run(query.deleteFrom("file_scan").where("file_id", "=", fileId));
}

/** The file could not be scanned in time. */
export function endWait(fileIds: readonly string[], state: WhenUnscanned): Steps<number> {
  return run(text(END_WAIT_SQL, state, listParameter(fileIds)));
}

const END_WAIT_SQL = `UPDATE file_scan SET state = ?
  WHERE state = 'scanning' AND file_id IN ${LISTED}`;

/** Whom a file belongs to. */
export interface ScanOwner {
  readonly kind: "submission" | "held";
  readonly id: string;
}

const OF_OWNER = {
  submission: `SELECT file_id FROM file_scan JOIN file ON file.id = file_id WHERE submission_id = ? AND file_scan.state = 'scanning'`,
  held: `SELECT file_id FROM file_scan JOIN file ON file.id = file_id WHERE held_id = ? AND file_scan.state = 'scanning'`,
} as const;

/** The files of a post that nobody may read yet. */
export function* listScanning({ kind, id }: ScanOwner): Steps<string[]> {
  return (yield* all(text<{ readonly file_id: string }>(OF_OWNER[kind], id))).map((row) => row.file_id);
}

/** Until when the last of these files is `scanning`; null if none is. */
export function* lastWaitOfHeld(heldId: string): Steps<number | null> {
  const sql = `SELECT max(wait_until) AS until FROM file_scan JOIN file ON file.id = file_id
    WHERE held_id = ? AND file_scan.state = 'scanning'`;
  return (yield* first(text<{ readonly until: number | null }>(sql, heldId)))?.until ?? null;
}

/** Owners of files that are `scanning` although their time is over. */
export function* listLate(now: number, most: number): Steps<ScanOwner[]> {
  const sql = `SELECT DISTINCT submission_id, held_id FROM file_scan JOIN file ON file.id = file_id
    WHERE file_scan.state = 'scanning' AND wait_until <= ? AND (submission_id IS NOT NULL OR held_id IS NOT NULL) LIMIT ?`;
  return (yield* all(text<OwnerRow>(sql, now, most))).map(toOwner).filter((owner) => owner !== undefined);
}

/** When a file is next to be scanned, and when the wait of one that is `scanning` ends; null if there is none. */
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

/** Whose a file is now: a held post may have been released. Undefined if the file is nobody's, or the scanner has nothing to do with it. */
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

/** Files that have no verdict, by what may be done with them. */
export function* countUnscanned(): Steps<{ readonly scanning: number; readonly unscanned: number }> {
  const sql = `SELECT coalesce(sum(CASE state WHEN 'scanning' THEN 1 ELSE 0 END), 0) AS scanning, count(*) AS files FROM file_scan`;
  const row = yield* first(text<{ readonly scanning: number; readonly files: number }>(sql));
  const scanning = row?.scanning ?? 0;
  return { scanning, unscanned: (row?.files ?? 0) - scanning };
}

/** The files that have no verdict. */
export interface ScanBacklog {
  readonly files: number;
  /** Files that the scanner is not asked about again. */
  readonly givenUp: number;
  /** When the oldest of them came; null if there is none. */
  readonly since: number | null;
  /** When the oldest came that the scanner is still asked about; null if there is none. */
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

/** @throws conflict while the file is scanned; forbidden if it could not be and `files.whenUnscanned` is `refuse` */
export function* refuseUnscanned(fileId: string): Steps<void> {
  const row = yield* first(query.selectFrom("file_scan").select("state").where("file_id", "=", fileId));
  if (row?.state === "scanning")
    throw new FormsvcError("conflict", "The file is being scanned for viruses; try again shortly.", {
      retryAfterSeconds: 2,
    });
  if (row?.state === "refused")
    throw new FormsvcError(
      "forbidden",
      "The file could not be scanned for viruses, and this server lets nobody open such files.",
    );
}
