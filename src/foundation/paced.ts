/** The part of the time that the work may take: one of this number. */
const SHARE = 10;
const LONGEST_REST_MS = 2000;

/**
 * Returns a function that begins work, and rests after it ten times as long as it took, up to two seconds. Calls during the rest begin it
 * once, at the end. So whoever calls often cannot keep the processor busy.
 *
 * @param begin begins the work, which may end later. @param tookMs how long it took the last time, in milliseconds
 */
export function paced(
  begin: () => void,
  tookMs: () => number,
  now: () => number = () => performance.now(),
): () => void {
  let begunAt = -Infinity;
  let timer: NodeJS.Timeout | undefined;
  const beginNow = (): void => {
    timer = undefined;
    begunAt = now();
    begin();
  };
  return () => {
    if (timer !== undefined) return;
    const restMs = begunAt + Math.min(SHARE * tookMs(), LONGEST_REST_MS) - now();
    if (restMs <= 0) beginNow();
    else timer = setTimeout(beginNow, restMs).unref();
  };
}
