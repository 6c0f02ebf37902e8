import { performance } from "node:perf_hooks";

/** How long is looked back for one judgement. */
const WINDOW_MS = 100;
/** From this many deliveries queued a second on, posts come fast enough to matter. */
const RUSH_PER_SECOND = 200;
/** From this share of time at work on, whatever deliveries take is taken from posts. */
const RUSH_UTILIZATION = 0.9;

/** What happened in one window. */
interface Load {
  readonly queued: number;
  readonly elapsedMs: number;
  /** 0 to 1: the share of the window in which the process was at work. */
  readonly utilization: number;
}

/** Posts are answered first: while they take all there is, deliveries can wait a little. */
export function isRush({ queued, elapsedMs, utilization }: Load): boolean {
  return utilization >= RUSH_UTILIZATION && queued * 1000 >= RUSH_PER_SECOND * elapsedMs;
}

/** Judges now and then whether there is a rush. @param queuedSoFar how many deliveries were ever queued */
export function watchRush(queuedSoFar: () => number): () => boolean {
  let startedAt = performance.now();
  let queuedBefore = queuedSoFar();
  let before = performance.eventLoopUtilization();
  let judgement = false;
  return () => {
    const elapsedMs = performance.now() - startedAt;
    if (elapsedMs < WINDOW_MS) return judgement;
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    const queued = queuedSoFar();
    judgement = isRush({ queued: queued - queuedBefore, elapsedMs, utilization });
    startedAt += elapsedMs;
    queuedBefore = queued;
    before = now;
    return judgement;
  };
}
