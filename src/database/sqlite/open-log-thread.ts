import { startLogThread } from "./start-log-thread.ts";

/** What the thread is given. */
export interface LogThreadData {
  readonly file: string;
  /** Of the file. */
  readonly descriptor: number;
  /** 1 from the moment that a copy is asked for until it has ended. */
  readonly copying: Int32Array<SharedArrayBuffer>;
}

/** What a copy found: the frames of the log, and how many of them are in the file now. */
export interface Copied {
  readonly frames: number;
  readonly copied: number;
}

export type LogThreadAnswer = Copied | { readonly error: string };

/** A thread with a connection of its own, which copies the write-ahead log while this thread goes on. */
export interface LogThread {
  /** One at a time. @throws Error if SQLite refuses it, or the thread has ended. */
  copy(): Promise<Copied>;
  /** Waits in place until no copy runs. */
  settle(): void;
  /** Resolves when the thread has closed its connection and ended. */
  close(): Promise<void>;
}

/** Longest wait in place for a copy, which takes milliseconds. */
const MAX_SETTLE_MS = 1000;

/** @param descriptor of the file, which stays open. */
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
    if ("error" in answer) asked?.reject(new Error(answer.error));
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
