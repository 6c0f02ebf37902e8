import { Worker } from "node:worker_threads";
import { optionsOf } from "./log-thread-options.ts";

/** Starts the thread from its source. The build replaces this module by one that finds the script in the executable. */
export function startLogThread(data: object): Worker {
  return new Worker(new URL("./log-thread.ts", import.meta.url), optionsOf(data));
}
