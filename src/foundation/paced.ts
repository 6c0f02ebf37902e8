/** The part of the time that the work may take in the long run: one of this number. */
const SHARE = 10;
/** What one piece of work counts at most, so that nobody waits longer than this for one that is asked for again and again. */
const LONGEST_REST_MS = 2000;
/** The rest that may be owed before work waits for it: a second of work may be done at once. */
const MAX_OWED_MS = 10_000;

/**
 * Returns a function that begins work at once, unless much of it was done lately: each piece of work owes a rest of ten times as long as it
 * took, up to two seconds, and only what is owed beyond ten seconds is waited for. Calls meanwhile begin the work once, at the end. So
 * whoever calls often cannot keep the processor busy, and a few calls in a row wait for nothing.
 *
 * @param begin begins the work, which may end later. @param tookMs how long it took the last time, in milliseconds
 */
export function paced(
  begin: () => void,
  tookMs: () => number,
  now: () => number = () => performance.now(),
): () => void {
  let owedMs = 0;
  let countedAt = now();
  let timer: NodeJS.Timeout | undefined;
  const beginNow = (): void => {
    timer = undefined;
    begin();
  };
  return () => {
    if (timer !== undefined) return;
    const at = now();
    owedMs = Math.max(0, owedMs - (at - countedAt)) + Math.min(SHARE * tookMs(), LONGEST_REST_MS);
    countedAt = at;
    if (owedMs <= MAX_OWED_MS) beginNow();
    else timer = setTimeout(beginNow, owedMs - MAX_OWED_MS).unref();
  };
}
