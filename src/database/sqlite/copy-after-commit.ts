import { statfsSync } from "node:fs";
import { dirname } from "node:path";
import type Driver from "better-sqlite3";
import type { DiskLoss } from "./disk-loss.ts";

/** The length of the write-ahead log, in frames of one page each, from which it is copied into the file after a commit. */
export interface LogCopy {
  fromFrames: number;
}

interface Frames {
  readonly log: number;
  readonly checkpointed: number;
}

/** With less room than this on the disk, a log is copied from fewer frames on, so that it begins anew and takes no more room. */
const SCARCE_BYTES = 33_554_432;
const SCARCE_FRAMES = 256;

/**
 * Returns a function that copies a long log into the file, to be called after each commit. SQLite would do so itself, but it drops the error
 * of a failed sync. The system tells of that once: if pages that a part of an earlier copy wrote are lost, or frames that no commit has
 * synced, the next sync works all the same, and the log then begins anew without them.
 *
 * The commit before it is on the disk, so an error is only reported.
 */
export function copyAfterCommit(connection: Driver.Database, copy: LogCopy, loss: DiskLoss): () => void {
  connection.pragma("wal_autocheckpoint = 0");
  // Copies nothing, and takes microseconds.
  const frames = connection.prepare("PRAGMA wal_checkpoint(NOOP)");
  const folder = dirname(connection.name);
  // The number of frames at which the room was last looked at, because a look takes longer than the question for the frames.
  let lookedAt = 0;
  const isLong = (log: number): boolean => {
    if (log >= copy.fromFrames) return true;
    if (log < lookedAt) lookedAt = 0;
    if (log < lookedAt + SCARCE_FRAMES) return false;
    lookedAt = log;
    return hasLessRoom(folder, SCARCE_BYTES);
  };
  return () => {
    try {
      const { log, checkpointed } = frames.get() as Frames;
      if (checkpointed < log && isLong(log)) connection.pragma("wal_checkpoint(PASSIVE)");
    } catch (error) {
      // All others leave the log as it is, and the next commit tries again.
      loss.translate(error);
    }
  };
}

function hasLessRoom(folder: string, bytes: number): boolean {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize < bytes;
}

/**
 * Copies the log after a transaction that found the disk full, whatever its length, so that the next one can begin it anew. Otherwise a short
 * log on a full disk would refuse every post until a restart.
 */
export function copyOnFullDisk(connection: Driver.Database, loss: DiskLoss): void {
  if (connection.inTransaction) return;
  try {
    connection.pragma("wal_checkpoint(PASSIVE)");
  } catch (error) {
    // The transaction's own error says what is wrong, unless a sync failed.
    loss.translate(error);
  }
}
