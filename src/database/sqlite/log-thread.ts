import { fdatasyncSync } from "node:fs";
import { constants, getPriority, setPriority } from "node:os";
import { parentPort, workerData } from "node:worker_threads";
import Driver from "better-sqlite3";
import type { Copied, LogThreadAnswer, LogThreadData } from "./open-log-thread.ts";

/** The script of the thread that copies the write-ahead log. It has a connection of its own, and makes one copy at a time. */

const { file, descriptor, copying } = workerData as LogThreadData;
/**
 * The number of steps by which the thread's priority is below that of the event loop, so that posts seldom wait for a copy on a single
 * core. If both are busy, Linux gives the copy a fourth of the core.
 */
const STEPS_BELOW = 5;
// On other systems this would set the priority of the whole process.
if (process.platform === "linux")
  setPriority(0, Math.min(getPriority(0) + STEPS_BELOW, constants.priority.PRIORITY_LOW));
// Waits for no lock, because a copy that another process makes is as good.
const connection = new Driver(file, { fileMustExist: true, timeout: 0 });
// The pages must be on the disk before the log may begin anew.
connection.pragma("synchronous = FULL");
// A small cache, because the copy does not use it.
connection.pragma("cache_size = -64");
// A connection does not know that the file has a log before it reads for the first time.
connection.prepare("SELECT count(*) FROM sqlite_schema").get();

parentPort?.on("message", (asked: "copy" | "close") => {
  if (asked === "copy") return parentPort?.postMessage(copy());
  connection.close();
  parentPort?.close();
});

function copy(): LogThreadAnswer {
  try {
    const copied = copyFrames();
    // SQLite would sync the file only when all of the log is copied. The event loop copies the last of it, and syncing 48 MiB would stop it
    // for 30 ms.
    fdatasyncSync(descriptor);
    return copied;
  } catch (error) {
    const { message, code = "" } = error as NodeJS.ErrnoException;
    return { error: message, isLoss: code === "SQLITE_IOERR_FSYNC" || "syscall" in (error as Error) };
  }
}

function copyFrames(): Copied {
  try {
    const [row] = connection.pragma("wal_checkpoint(PASSIVE)") as [{ log: number; checkpointed: number }];
    return { frames: row.log, copied: row.checkpointed };
  } finally {
    Atomics.store(copying, 0, 0);
    Atomics.notify(copying, 0);
  }
}
