import { parentPort, workerData } from "node:worker_threads";
import Driver from "better-sqlite3";
import type { LogThreadAnswer, LogThreadData } from "./open-log-thread.ts";

/** What the thread runs that copies the write-ahead log: a connection of its own, asked for one copy at a time. */

const { file, copying } = workerData as LogThreadData;
// Nobody waits for a lock here: a copy that another process makes is as good.
const connection = new Driver(file, { fileMustExist: true, timeout: 0 });
// The pages are on the disk before the log may begin anew.
connection.pragma("synchronous = FULL");
// The copy passes its cache by.
connection.pragma("cache_size = -64");
// Until its first reading a connection does not know that the file has a log.
connection.prepare("SELECT count(*) FROM sqlite_schema").get();

parentPort?.on("message", (asked: "copy" | "close") => {
  if (asked === "copy") return answer(copy());
  connection.close();
  parentPort?.close();
});

function copy(): LogThreadAnswer {
  try {
    const [row] = connection.pragma("wal_checkpoint(PASSIVE)") as [{ log: number; checkpointed: number }];
    return { frames: row.log, copied: row.checkpointed };
  } catch (error) {
    return { error: (error as Error).message };
  } finally {
    Atomics.store(copying, 0, 0);
    Atomics.notify(copying, 0);
  }
}

function answer(said: LogThreadAnswer): void {
  parentPort?.postMessage(said);
}
