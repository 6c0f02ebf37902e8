import { openSync } from "node:fs";
import type { Clock } from "../../foundation/clock.ts";
import { logNotCopied } from "../../foundation/events.ts";
import type { Log } from "../../foundation/log.ts";
import { createLogFlusher } from "./flush-log.ts";
import { hasLitestream } from "./litestream.ts";
import { CHECKPOINT_PAGES } from "./open-database.ts";
import { CopyLost, openLogThread, type Copied, type LogThread } from "./open-log-thread.ts";
import type { SqliteDatabase } from "./sqlite-database.ts";

/**
 * The bytes of files in the write-ahead log after which it is copied. No page of a file is written twice, so waiting longer would not make
 * the copy smaller.
 */
const COPY_BYTES = 2_097_152;
const PAGE_BYTES = 4096;
/** The bytes of files that may be stored while a copy runs; further chunks wait for it. */
const MAX_AHEAD_BYTES = 8_388_608;
/**
 * The length of the log, in frames of one page each, from which it should begin anew. It can do so only when all of it is copied, which
 * never happens while commits go on. So chunks of files wait until the thread has copied all frames. Posts do not wait: they add few frames
 * meanwhile, and the event loop copies these, which takes the disk some milliseconds. With 3000 frames this happened five times a second
 * during busy uploads, and delayed one post in fifty.
 */
const LONG_LOG_FRAMES = 12_000;
/**
 * The length of the log, in frames, from which the event loop copies it too, although the thread does so. The log gets this long
 * only if the thread gets no processor time.
 */
const HELP_FRAMES = 16_000;
/** The longest time that chunks wait, once for each copy: on a busy machine the thread may get no processor time for longer. */
const MAX_HOLD_MS = 250;
/** If there was no copy for this time, the event loop copies the log again. */
const REST_MS = 1000;
/** For this time after a failed copy, the event loop copies the log as it does without files. */
const PAUSE_MS = 60_000;

/**
 * Copies the log into the file in a separate thread while files are stored. Copying the usual 16 MB would stop the event loop, and so all
 * posts, for 25 ms, several times a second. The thread starts with the first file, so a server without files has none.
 */
export interface LogCopier {
  /** Call it after each commit of a chunk of a file. */
  note(bytes: number): void;
  /** Returns a promise that the next chunk has to wait for; null if it may be stored now. */
  held(): Promise<void> | null;
  /** Blocks until no copy runs, because SQLite lets only one connection at a time copy the log. */
  settle(): void;
  /** Resolves when the thread has ended. No copy is made afterwards. */
  close(): Promise<void>;
}

interface CopierParts {
  readonly db: SqliteDatabase;
  readonly clock: Clock;
  readonly log: Log;
}

export function createLogCopier({ db, clock, log }: CopierParts, open = openLogThread): LogCopier {
  let waiting = 0;
  let thread: LogThread | null = null;
  let descriptor: number | null = null;
  let isCopying = false;
  let isClosed = false;
  let failedAt = -Infinity;
  const gate = createGate();
  const share = createShare(db);
  const isLong = createLengthWatch();
  const flusher = createLogFlusher(db.path, db.reportLost);
  const copy = async (): Promise<void> => {
    isCopying = true;
    waiting = 0;
    gate.renew();
    try {
      // Litestream decides itself when the log begins anew.
      if (hasLitestream(db)) return;
      share.lower();
      // Never closed: when a process closes any descriptor of a file, POSIX releases all locks that the process has on it.
      descriptor ??= openSync(db.path, "r");
      thread ??= open(db.path, descriptor);
      if (isLong(await thread.copy(), waiting / PAGE_BYTES) && !isClosed) {
        gate.hold();
        await thread.copy();
        // If chunks were stored meanwhile, because the thread was slow, too many frames are left to copy here.
        if (gate.held() !== null && !isClosed) db.pragma("wal_checkpoint(PASSIVE)");
      }
    } catch (error) {
      if (error instanceof CopyLost) db.reportLost(error);
      // The commits are safe in the log, so senders need not know of another failure.
      failedAt = clock.now();
      logNotCopied(log, { reason: (error as Error).message });
      share.restore();
      await thread?.close();
      thread = null;
    } finally {
      isCopying = false;
      if (!isClosed) share.rest();
      gate.release();
    }
  };
  return {
    note(bytes) {
      waiting += bytes;
      if (!isClosed) flusher.flush();
      if (isCopying && waiting >= MAX_AHEAD_BYTES) gate.hold();
      // A failure counts as long ago after the clock was set back.
      const isPaused = Math.abs(clock.now() - failedAt) < PAUSE_MS;
      if (isClosed || isCopying || waiting < COPY_BYTES || isPaused) return;
      void copy();
    },
    held: gate.held,
    settle: () => thread?.settle(),
    async close() {
      isClosed = true;
      share.restore();
      await Promise.all([thread?.close(), flusher.close()]);
    },
  };
}

/** Sets the length of the log at which the event loop copies it, after a commit. */
function createShare({ logCopy }: Pick<SqliteDatabase, "logCopy">) {
  const copyFrom = (frames: number): void => void (logCopy.fromFrames = frames);
  let isLower = false;
  let timer: NodeJS.Timeout | undefined;
  const restore = (): void => {
    clearTimeout(timer);
    if (isLower) copyFrom(CHECKPOINT_PAGES);
    isLower = false;
  };
  return {
    /** Called when a copy begins. */
    lower(): void {
      clearTimeout(timer);
      if (!isLower) copyFrom(HELP_FRAMES);
      isLower = true;
    },
    /** Called when a copy has ended; another may follow. */
    rest: () => void (timer = setTimeout(restore, REST_MS).unref()),
    restore,
  };
}

/** Decides after each copy whether chunks should wait for another one. `since` is the number of frames added during the copy. */
function createLengthWatch(): (copied: Copied, since: number) => boolean {
  let longAt = LONG_LOG_FRAMES;
  let before = 0;
  return ({ frames, copied }, since) => {
    if (frames < before) longAt = LONG_LOG_FRAMES;
    before = frames;
    const length = frames + since;
    // If a reader keeps frames from being copied, waiting does not help.
    if (length < longAt || copied < frames) return false;
    // If a reader keeps the log from beginning anew, chunks wait again when it is twice as long.
    longAt = 2 * length;
    return true;
  };
}

/** Makes chunks wait, at most once for each copy. */
function createGate() {
  let closed: PromiseWithResolvers<void> | null = null;
  let mayClose = true;
  let timer: NodeJS.Timeout | undefined;
  const release = (): void => {
    clearTimeout(timer);
    closed?.resolve();
    closed = null;
  };
  return {
    held: (): Promise<void> | null => closed?.promise ?? null,
    /** Called when a copy begins. */
    renew: () => void (mayClose = true),
    hold(): void {
      if (!mayClose) return;
      mayClose = false;
      closed = Promise.withResolvers();
      timer = setTimeout(release, MAX_HOLD_MS);
    },
    release,
  };
}
