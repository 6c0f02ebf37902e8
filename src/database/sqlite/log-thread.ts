import { fdatasyncSync } from "node:fs";
import { constants, getPriority, setPriority } from "node:os";
import { parentPort, workerData } from "node:worker_threads";
import Driver from "better-sqlite3";
import type { Copied, LogThreadAnswer, LogThreadData } from "./open-log-thread.ts";

/** What the thread runs that copies the write-ahead log: a connection of its own, asked for one copy at a time. */

const { file, descriptor, copying } = workerData as LogThreadData;
/** Steps below the event loop: posts seldom wait for a copy if there is one core. Linux gives the copy a fourth of it if both are busy. */
const STEPS_BELOW = 5;
// Elsewhere it would be the priority of the whole process.
if (process.platform === "linux")
  setPriority(0, Math.min(getPriority(0) + STEPS_BELOW, constants.priority.PRIORITY_LOW));
// Nobody waits for a lock here: a copy that another process makes is as good.
const connection = new Driver(file, { fileMustExist: true, timeout: 0 });
// The pages are on the disk before the log may begin anew.
connection.pragma("synchronous = FULL");
// The copy passes its cache by.
connection.pragma("cache_size = -64");
// Until its first reading a connection does not know that the file has a log.
connection.prepare("SELECT count(*) FROM sqlite_schema").get();

parentPort?.on("message", (asked: "copy" | "close") => {
  if (asked === "copy") return parentPort?.postMessage(copy());
  connection.close();
  parentPort?.close();
});

function copy(): LogThreadAnswer {
  try {
    const copied = copyFrames();
    // SQLite syncs the file when all of the log is copied. It is the event loop that copies the last of it, and 48 MiB would hold it up for 30 ms.
    fdatasyncSync(descriptor);
    return copied;
  } catch (error) {
    return { error: (error as Error).message };
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
