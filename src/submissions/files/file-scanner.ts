import type { Database } from "../../database/database.ts";
import { type Clamd, ScanFailure, type ScanVerdict } from "../../files/clamd.ts";
import { dropFiles } from "../../files/file-store.ts";
import { readBytes } from "../../files/read-file.ts";
import {
  applyWhenUnscanned,
  claimScans,
  type DueScan,
  endLeases,
  findScanOwner,
  isScanTime,
  LONGEST_SCAN_PLAN_MS,
  moveDue,
  nextScan,
  postponeScan,
  SCAN_LEASE_MS,
  type WhenUnscanned,
} from "../../files/scan-store.ts";
import type { Clock } from "../../foundation/clock.ts";
import { doubled, type Doubling } from "../../foundation/doubling.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import type { Log } from "../../foundation/log.ts";
import {
  scanFailed,
  scannerAway,
  scannerBack,
  scansWaiting,
  virusFound,
} from "../../foundation/scan-events.ts";
import { SingleFlight } from "../../foundation/single-flight.ts";
import {
  type LinkRow,
  endLateWaits,
  listSettled,
  nextWaitEnd,
  recordClean,
  recordInfected,
  settleWait,
} from "./scanned-files.ts";

/** The largest number of files that a server scans at the same time. */
const MAX_SCANS = 4;
/** The largest number of posts whose waits one look ends. */
const MAX_SETTLED = 100;
/** The largest number of scans of one file without a verdict; they take some hours. */
const MAX_ATTEMPTS = 16;
/** The waits of a file until its next scan, after one without a verdict. */
const RETRIES: Doubling = { firstMs: 5000, longestMs: LONGEST_SCAN_PLAN_MS };
/** The pauses while the scanner does not answer. */
const PAUSES: Doubling = { firstMs: 500, longestMs: 15_000 };
/** Time between two looks while files or messages wait, and while none do: another process may have stored some. */
const WAITING_LOOK_MS = 250;
const IDLE_LOOK_MS = 5000;

/** The results of a scan, for metrics. */
export const SCAN_RESULTS = ["clean", "infected", "failed"] as const;

export interface FileScannerParts {
  readonly db: Database;
  /** Null if no scanner is configured. The scanner then only ends the waits that an earlier process left. */
  readonly clamd: Pick<Clamd, "scan"> | null;
  readonly whenUnscanned: WhenUnscanned;
  readonly linkFiles: LinkRow;
  readonly clock: Clock;
  readonly log: Log;
  readonly count: (result: (typeof SCAN_RESULTS)[number]) => void;
  /** Called when messages were queued. */
  readonly onQueued: () => void;
  /** Called when the bytes of a file were deleted. */
  readonly onDeleted: () => void;
}

/**
 * Scans files after their posts were answered, and ends the waits of messages about them. All its work is recorded in the database, so
 * nothing is lost when the process ends, and several servers share the work.
 */
export class FileScanner {
  readonly #parts: FileScannerParts;
  readonly #looks = new SingleFlight();
  readonly #running = new Map<string, Promise<void>>();
  readonly #stopped = new AbortController();
  #timer: NodeJS.Timeout | null = null;
  #isStarted = false;
  #mustLookAgain = false;
  /** The number of pauses in a row, and the end of the current one by `performance.now()`. */
  #pauses = 0;
  #pausedUntil = 0;

  constructor(parts: FileScannerParts) {
    this.#parts = parts;
  }

  /** Takes over the work that an earlier process left. Called before the server listens. */
  async begin(): Promise<void> {
    const { db, whenUnscanned } = this.#parts;
    await db.transaction(() => applyWhenUnscanned(whenUnscanned));
    // An SQLite file has only one server, so no other process holds a lease. On PostgreSQL another server may: the lease of a lost server
    // ends by itself.
    if (db.engine === "sqlite") await db.transaction(endLeases);
  }

  start(): void {
    this.#isStarted = true;
    this.wake();
  }

  /** Looks for files at once. Called when files may wait. */
  wake(): void {
    if (!this.#isStarted || this.#stopped.signal.aborted) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#looks.isRunning) this.#mustLookAgain = true;
    else void this.#looks.run(() => this.#look());
  }

  /** Ends the scans that run; the next start begins them anew. A second call waits for the same end. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#looks.settle();
    await Promise.all(this.#running.values());
  }

  /** Scans the files that are due and ends late waits. Never rejects. */
  async #look(): Promise<void> {
    let waitMs: number | null = WAITING_LOOK_MS;
    try {
      do {
        this.#mustLookAgain = false;
        await this.#claim();
        await this.#settle();
      } while (this.#mustLookAgain && !this.#stopped.signal.aborted);
      waitMs = await this.#nextLookMs();
    } catch (error) {
      scansWaiting(this.#parts.log, error);
    }
    if (this.#stopped.signal.aborted || waitMs === null) return;
    this.#timer = setTimeout(() => this.wake(), waitMs);
    this.#timer.unref();
  }

  async #claim(): Promise<void> {
    const { db, clamd, clock } = this.#parts;
    const free = MAX_SCANS - this.#running.size;
    if (clamd === null || free <= 0 || performance.now() < this.#pausedUntil) return;
    const now = clock.now();
    const next = await db.read(nextScan);
    if (next.dueAt === null || !isScanTime(next.dueAt, now)) return;
    // While the scanner fails, only one file is tried, to find out if it is back.
    const claimed = await db.transaction(() => claimScans(now, this.#pauses > 0 ? 1 : free));
    for (const due of claimed) {
      if (this.#running.has(due.fileId)) continue;
      const scan = this.#scan(clamd, due).finally(() => {
        this.#running.delete(due.fileId);
        this.wake();
      });
      this.#running.set(due.fileId, scan);
    }
  }

  /** Scans one file and records the result. Never rejects. */
  async #scan(clamd: Pick<Clamd, "scan">, due: DueScan): Promise<void> {
    const lease = this.#keepLease(due);
    try {
      await this.#conclude(due, await this.#scanFile(clamd, due));
    } catch (error) {
      // If the database refuses, the lease ends by itself.
      if (error instanceof FormsvcError) scansWaiting(this.#parts.log, error);
      else await this.#fail(due, error instanceof ScanFailure ? error : unreadable(error));
    } finally {
      await lease.end();
    }
  }

  async #scanFile(clamd: Pick<Clamd, "scan">, { fileId, size, isLeftOut }: DueScan): Promise<ScanVerdict> {
    if (isLeftOut) throw new ScanFailure("refused", "its bytes are not in this backup");
    const read = (): AsyncIterable<Buffer> => readBytes(this.#parts.db, fileId, { first: 0, last: size - 1 });
    return clamd.scan(read, this.#stopped.signal);
  }

  /** Renews the lease while a long file is scanned, so that no other server begins to scan it. */
  #keepLease({ fileId, leasedUntil }: DueScan): { end(): Promise<void> } {
    const { db, clock, log } = this.#parts;
    let until = leasedUntil;
    const renewing = new SingleFlight();
    const renew = async (): Promise<void> => {
      const next = clock.now() + SCAN_LEASE_MS;
      if (await db.relaxedTransaction(() => moveDue(fileId, until, next))) until = next;
    };
    const timer = setInterval(() => {
      renewing.run(renew).catch((error: unknown) => scansWaiting(log, error));
    }, SCAN_LEASE_MS / 3);
    return {
      async end() {
        clearInterval(timer);
        await renewing.settle();
      },
    };
  }

  async #conclude(due: DueScan, verdict: ScanVerdict): Promise<void> {
    const { db, log, count, onDeleted } = this.#parts;
    this.#answers();
    count(verdict.isClean ? "clean" : "infected");
    if (verdict.isClean) {
      await db.transaction(() => recordClean(due.fileId));
      return;
    }
    const { virus } = verdict;
    const owner = await db.transaction(() => recordInfected(due.fileId, virus));
    if (owner === undefined) return;
    virusFound(log, { fileId: due.fileId, submissionId: owner.id, virus });
    await dropFiles(db, [due.fileId]);
    onDeleted();
  }

  /** Records that the scanner gave no verdict, and when to try again. Never rejects. */
  async #fail(due: DueScan, failure: ScanFailure): Promise<void> {
    const { db, clock, log, count } = this.#parts;
    try {
      const now = clock.now();
      const owner = await db.read(() => findScanOwner(due.fileId));
      // The file was deleted while it was scanned.
      if (owner === undefined) return;
      if (this.#stopped.signal.aborted) {
        await db.transaction(() => postponeScan(due.fileId, due.attempts, now));
        return;
      }
      count("failed");
      if (failure.blame === "scanner") {
        await db.transaction(() => postponeScan(due.fileId, due.attempts, now));
        this.#pause(failure.message);
        return;
      }
      this.#answers();
      const attempts = due.attempts + 1;
      const isLast = failure.blame === "refused" || attempts >= MAX_ATTEMPTS;
      const later = now + doubled(RETRIES, due.attempts);
      await db.transaction(() => postponeScan(due.fileId, attempts, isLast ? null : later));
      const { message: reason } = failure;
      scanFailed(log, { fileId: due.fileId, submissionId: owner.id, reason, attempts, isLast });
    } catch (error) {
      scansWaiting(log, error);
    }
  }

  #answers(): void {
    if (this.#pauses > 0) scannerBack(this.#parts.log);
    this.#pauses = 0;
    this.#pausedUntil = 0;
  }

  #pause(reason: string): void {
    if (this.#pauses === 0) scannerAway(this.#parts.log, { reason });
    const pauseMs = doubled(PAUSES, this.#pauses);
    this.#pauses += 1;
    this.#pausedUntil = performance.now() + pauseMs;
  }

  /** Ends waits whose time is over, and queues the messages that waited. */
  async #settle(): Promise<void> {
    const { db, clock, clamd, whenUnscanned: state, linkFiles, onQueued } = this.#parts;
    const now = clock.now();
    // Without a scanner nobody will ever scan these files, so all waits end now.
    const until = clamd === null ? Number.MAX_SAFE_INTEGER : now;
    const { waitUntil } = await db.read(nextScan);
    if (waitUntil !== null && isScanTime(waitUntil, until))
      await db.transaction(() => endLateWaits(state, until, MAX_SETTLED));
    if ((await db.read(nextWaitEnd)) === null) return;
    let queued = 0;
    for (const id of await db.read(() => listSettled(until, MAX_SETTLED)))
      if (await db.transaction(() => settleWait(id, { state, linkFiles, now }))) queued += 1;
    if (queued > 0) onQueued();
  }

  /** Time until the next look, in milliseconds; null if no look is needed. */
  async #nextLookMs(): Promise<number | null> {
    const { db, clamd, clock } = this.#parts;
    const [{ dueAt, waitUntil }, messages] = await db.read(function* () {
      return [yield* nextScan(), yield* nextWaitEnd()] as const;
    });
    if (waitUntil !== null || messages !== null) return WAITING_LOOK_MS;
    if (clamd === null) return null;
    if (dueAt === null) return IDLE_LOOK_MS;
    const untilDue = Math.max(dueAt - clock.now(), this.#pausedUntil - performance.now());
    return Math.min(Math.max(untilDue, WAITING_LOOK_MS), IDLE_LOOK_MS);
  }
}

/** The failure of a file some of whose bytes are missing. */
function unreadable(error: unknown): ScanFailure {
  const message = error instanceof Error ? error.message : String(error);
  return new ScanFailure("file", `the file could not be read: ${message}`, error);
}
