import { startLogThread } from "./start-log-thread.ts";

/** The data that the thread gets when it starts. */
export interface LogThreadData {
  readonly file: string;
  /** A descriptor of the database file. */
  readonly descriptor: number;
  /** 1 from when a copy is asked for until it has ended, then 0. */
  readonly copying: Int32Array<SharedArrayBuffer>;
}

/** The result of a copy: the number of frames of the log, and of those that are in the file now. */
export interface Copied {
  readonly frames: number;
  readonly copied: number;
}

/** An error with whether the disk failed to keep what was written, which another try does not mend. */
export type LogThreadAnswer = Copied | { readonly error: string; readonly isLoss: boolean };

/** The disk failed to keep what was copied. */
export class CopyLost extends Error {}

/** A thread with a connection of its own, which copies the write-ahead log while the main thread goes on. */
export interface LogThread {
  /** Makes a copy; only one at a time. @throws CopyLost; Error if SQLite refuses it, or the thread has ended. */
  copy(): Promise<Copied>;
  /** Blocks until no copy runs. */
  settle(): void;
  /** Resolves when the thread has closed its connection and ended. */
  close(): Promise<void>;
}

/** The longest time that `settle` blocks; a copy takes milliseconds. */
const MAX_SETTLE_MS = 1000;

/** @param descriptor a descriptor of the file; the caller keeps it open. */
export function openLogThread(file: string, descriptor: number): LogThread {
  const copying = new Int32Array(new SharedArrayBuffer(4));
  const worker = startLogThread({ file, descriptor, copying } satisfies LogThreadData);
  worker.unref();
  const ended = new Promise<void>((resolve) => worker.once("exit", () => resolve()));
  let failure: Error | null = null;
  let asked: PromiseWithResolvers<Copied> | null = null;
  const fail = (error: Error): void => {
    failure ??= error;
    Atomics.store(copying, 0, 0);
    asked?.reject(failure);
  };
  worker.on("message", (answer: LogThreadAnswer) => {
    if ("error" in answer)
      asked?.reject(answer.isLoss ? new CopyLost(answer.error) : new Error(answer.error));
    else asked?.resolve(answer);
  });
  worker.on("error", fail);
  worker.on("exit", () => fail(new Error("the thread has ended")));
  return {
    copy() {
      if (failure !== null) return Promise.reject(failure);
      asked = Promise.withResolvers();
      Atomics.store(copying, 0, 1);
      worker.postMessage("copy");
      return asked.promise;
    },
    settle: () => void Atomics.wait(copying, 0, 1, MAX_SETTLE_MS),
    async close() {
      worker.ref();
      worker.postMessage("close");
      await ended;
    },
  };
}
