/** Waits of which each is twice as long as the one before, up to the longest. */
export interface Doubling {
  readonly firstMs: number;
  readonly longestMs: number;
}

/** @param earlier the number of waits before this one, from 0 */
export function doubled({ firstMs, longestMs }: Doubling, earlier: number): number {
  return Math.min(firstMs * 2 ** earlier, longestMs);
}
