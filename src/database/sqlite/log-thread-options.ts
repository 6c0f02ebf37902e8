import { SHARE_ENV, type WorkerOptions } from "node:worker_threads";

/** The memory limits of the thread. It takes about 11 MB while it runs. Its script is small, and it allocates little. */
const LIMITS = { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 1, stackSizeMb: 1 };

export function optionsOf(workerData: object): WorkerOptions {
  return { workerData, resourceLimits: LIMITS, env: SHARE_ENV, execArgv: [] };
}
