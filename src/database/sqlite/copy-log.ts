import { openSync } from "node:fs";
import type { Clock } from "../../foundation/clock.ts";
import { logNotCopied } from "../../foundation/events.ts";
import type { Log } from "../../foundation/log.ts";
import { createLogFlusher } from "./flush-log.ts";
import { hasLitestream } from "./litestream.ts";
import { CHECKPOINT_PAGES } from "./open-database.ts";
import { openLogThread, type Copied, type LogThread } from "./open-log-thread.ts";
import type { SqliteDatabase } from "./sqlite-database.ts";

/** Bytes of files in the write-ahead log before they are copied. Nothing of a file is written twice, so a later copy is no smaller. */
const COPY_BYTES = 2_097_152;
const PAGE_BYTES = 4096;
/** Bytes of files that may come while a copy runs, before more wait for it. */
const MAX_AHEAD_BYTES = 8_388_608;
/**
 * Frames of the log, of a page each, from which it should begin anew. It does so only if all of it is copied, which never happens while commits go
 * on: so chunks of files wait until the thread has copied theirs. Posts do not wait. What they bring meanwhile is short, and the event loop copies it,
 * in some milliseconds for the disk. With 3000 frames that was five times a second beside busy uploads, which one post in fifty met.
 */
const LONG_LOG_FRAMES = 12_000;
/** Frames from which SQLite copies the log in the event loop while the thread does it too: more than there can be if the thread gets on. */
const HELP_FRAMES = 16_000;
/** Longest time that chunks wait, once a copy: on a busy machine the thread may not get a processor for longer. */
const MAX_HOLD_MS = 250;
/** With no copy for this time, the log is SQLite's again. */
const REST_MS = 1000;
/** After a copy failed, SQLite copies the log as ever for this time. */
const PAUSE_MS = 60_000;

/**
 * Copies the log into the file in a thread of its own while files are stored. The usual 16 MB of the log would hold up the event loop, and so all posts
 * of that moment, for 25 ms, several times a second. The thread is started when the first file comes: without files a server has none.
 */
export interface LogCopier {
  /** Call it after each commit of a chunk of a file. */
  note(bytes: number): void;
  /** What the next chunk has to wait for; null lets it go on. */
  held(): Promise<void> | null;
  /** Waits in place until no copy runs: whoever wants to copy all of the log would be refused meanwhile. */
  settle(): void;
  /** Resolves when the thread has ended. Nothing is copied afterwards. */
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
  let startsAt = -Infinity;
  const gate = createGate();
  const share = createShare(db);
  const isLong = createLengthWatch();
  const flusher = createLogFlusher(db.path);
  const copy = async (): Promise<void> => {
    isCopying = true;
    waiting = 0;
    gate.renew();
    try {
      // Litestream wants to decide itself when the log begins anew.
      if (hasLitestream(db)) return;
      share.lower();
      // Never closed: POSIX takes a file's locks from a process with the first descriptor of it that the process closes.
      descriptor ??= openSync(db.path, "r");
      thread ??= open(db.path, descriptor);
      if (isLong(await thread.copy(), waiting / PAGE_BYTES) && !isClosed) {
        gate.hold();
        await thread.copy();
        // If chunks went on, because the thread was slow, too much is left.
        if (gate.held() !== null && !isClosed) db.pragma("wal_checkpoint(PASSIVE)");
      }
    } catch (error) {
      // The commits stand, and the log keeps them: nobody who posts hears of it.
      startsAt = clock.now() + PAUSE_MS;
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
      if (isClosed || isCopying || waiting < COPY_BYTES || clock.now() < startsAt) return;
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

/** What SQLite itself copies, after the commit that makes the log long. */
function createShare(db: Pick<SqliteDatabase, "pragma">) {
  const copyFrom = (frames: number): void => void db.pragma(`wal_autocheckpoint = ${frames}`);
  let isLower = false;
  let timer: NodeJS.Timeout | undefined;
  const restore = (): void => {
    clearTimeout(timer);
    if (isLower) copyFrom(CHECKPOINT_PAGES);
    isLower = false;
  };
  return {
    /** A copy begins. */
    lower(): void {
      clearTimeout(timer);
      if (!isLower) copyFrom(HELP_FRAMES);
      isLower = true;
    },
    /** A copy has ended, and perhaps none follows. */
    rest: () => void (timer = setTimeout(restore, REST_MS).unref()),
    restore,
  };
}

/** Tells after each copy whether chunks should wait for another one. `since` are the frames that came during the copy. */
function createLengthWatch(): (copied: Copied, since: number) => boolean {
  let longAt = LONG_LOG_FRAMES;
  let before = 0;
  return ({ frames, copied }, since) => {
    if (frames < before) longAt = LONG_LOG_FRAMES;
    before = frames;
    const length = frames + since;
    // What a reader keeps from being copied stays however long they wait.
    if (length < longAt || copied < frames) return false;
    // If the log does not begin anew, because of a reader, they wait again when it is twice as long.
    longAt = 2 * length;
    return true;
  };
}

/** Has chunks wait. */
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
    /** Another copy begins. */
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
