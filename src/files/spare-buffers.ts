/** Bytes of each: a part of a file, and what the system reads at once. */
export const SPARE_BYTES = 262_144 + 65_536;
/** As many as eight uploads need; 7.5 MiB. */
const MOST_SPARE = 24;

const spare: Buffer[] = [];

/**
 * A buffer whose bytes are anything. The engine collects all garbage after some MiB of new buffers, which holds up everything for 10 to 20 ms:
 * so large ones are used again.
 */
export function takeBuffer(): Buffer {
  return spare.pop() ?? Buffer.allocUnsafeSlow(SPARE_BYTES);
}

/** Call it only if nobody reads or writes it any more; whoever is not sure leaves it to the engine. */
export function giveBuffer(buffer: Buffer): void {
  if (spare.length < MOST_SPARE && buffer.length === SPARE_BYTES) spare.push(buffer);
}
