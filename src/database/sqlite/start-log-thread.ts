import { Worker } from "node:worker_threads";
import { optionsOf } from "./log-thread-options.ts";

/** The build puts another one in the place of this module, which finds the script in the executable. */
export function startLogThread(data: object): Worker {
  return new Worker(new URL("./log-thread.ts", import.meta.url), optionsOf(data));
}
