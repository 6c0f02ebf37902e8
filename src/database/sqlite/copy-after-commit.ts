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
  return () => {
    try {
      const { log, checkpointed } = frames.get() as Frames;
      if (log >= copy.fromFrames && checkpointed < log) connection.pragma("wal_checkpoint(PASSIVE)");
    } catch (error) {
      // All others leave the log as it is, and the next commit tries again.
      loss.translate(error);
    }
  };
}
