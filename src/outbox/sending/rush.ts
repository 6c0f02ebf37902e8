import { performance } from "node:perf_hooks";

/** The length of the window that each decision looks at. */
const WINDOW_MS = 100;
/** The least number of deliveries queued a second that counts as a rush. */
const RUSH_PER_SECOND = 200;
/** The least share of time at work that counts as a rush. Above it, deliveries take time from posts. */
const RUSH_UTILIZATION = 0.9;

/** The load in one window. */
interface Load {
  readonly queued: number;
  readonly elapsedMs: number;
  /** 0 to 1: the share of the window in which the process was at work. */
  readonly utilization: number;
}

/** Whether posts need the whole processor. Posts are answered first, and deliveries can wait a little. */
export function isRush({ queued, elapsedMs, utilization }: Load): boolean {
  return utilization >= RUSH_UTILIZATION && queued * 1000 >= RUSH_PER_SECOND * elapsedMs;
}

/** Decides again in each window whether there is a rush. @param queuedSoFar returns how many deliveries were queued since the start. */
export function watchRush(queuedSoFar: () => number): () => boolean {
  let startedAt = performance.now();
  let queuedBefore = queuedSoFar();
  let before = performance.eventLoopUtilization();
  let isRushing = false;
  return () => {
    const elapsedMs = performance.now() - startedAt;
    if (elapsedMs < WINDOW_MS) return isRushing;
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    const queued = queuedSoFar();
    isRushing = isRush({ queued: queued - queuedBefore, elapsedMs, utilization });
    startedAt += elapsedMs;
    queuedBefore = queued;
    before = now;
    return isRushing;
  };
}
