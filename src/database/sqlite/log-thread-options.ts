import { SHARE_ENV, type WorkerOptions } from "node:worker_threads";

/** A thread takes some 11 MB for as long as it runs. Its script is small, and so is what it allocates. */
const LIMITS = { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 1, stackSizeMb: 1 };

export function optionsOf(workerData: object): WorkerOptions {
  return { workerData, resourceLimits: LIMITS, env: SHARE_ENV, execArgv: [] };
}
