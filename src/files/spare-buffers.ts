/** Bytes of each: of a file in one row. */
export const SPARE_BYTES = 262_144;
/** What waits in memory, and two for each of eight posts that are stored: 20 MiB. */
const MOST_SPARE = 80;
/** After this they go back to the engine, so that a server at rest does not keep them. */
const KEPT_MS = 60_000;

let spare: Buffer[] = [];
let isLeaving = false;

/**
 * A buffer whose bytes are anything. The engine collects all garbage after some MiB of new buffers, which holds up everything for 10 to 20 ms:
 * so large ones are used again.
 */
export function takeBuffer(): Buffer {
  return spare.pop() ?? Buffer.allocUnsafeSlow(SPARE_BYTES);
}

/** Call it only if nobody reads or writes it any more; whoever is not sure leaves it to the engine. */
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
