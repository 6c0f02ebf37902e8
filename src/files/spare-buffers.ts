/** The size of each buffer: the bytes of a file in one row. */
export const SPARE_BYTES = 262_144;
/**
 * The largest number of spare buffers, 20 MiB: for all files that wait in memory, and two for each of eight posts that are being stored.
 */
const MOST_SPARE = 80;
/** After this time the buffers are left to the garbage collector, so that a server at rest does not keep them. */
const KEPT_MS = 60_000;

let spare: Buffer[] = [];
let isLeaving = false;

/**
 * Returns a buffer with undefined contents. Large buffers are used again, because new ones cause a garbage collection after some MiB, which
 * stops everything for 10 to 20 ms.
 */
export function takeBuffer(): Buffer {
  return spare.pop() ?? Buffer.allocUnsafeSlow(SPARE_BYTES);
}

/** Gives a buffer back. Call it only if nobody reads or writes the buffer any more; in doubt leave it to the garbage collector. */
export function giveBuffer(buffer: Buffer): void {
  if (spare.length >= MOST_SPARE || buffer.length !== SPARE_BYTES) return;
  spare.push(buffer);
  if (isLeaving) return;
  isLeaving = true;
  setTimeout(() => {
    spare = [];
    isLeaving = false;
  }, KEPT_MS).unref();
}
