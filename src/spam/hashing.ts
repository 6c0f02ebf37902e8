/** Bits of a hash that a bucket leaves out. */
export const BUCKET_SHIFT = 15;

/** The start value of {@link step}. */
export const HASH_BEGIN = 0x811c9dc5;

/** FNV-1a, a character at a time. */
export function step(hash: number, code: number): number {
  return Math.imul(hash ^ code, 0x01000193);
}

/** A part of a text, before {@link mix}. */
export function hashOf(text: string, start: number, end: number): number {
  let hash = HASH_BEGIN;
  for (let at = start; at < end; at += 1) hash = step(hash, text.charCodeAt(at));
  return hash;
}

/** As {@link hashOf}, of a text's UTF-16 units. */
export function hashOfCodes(codes: Readonly<Uint16Array>, start: number, end: number): number {
  let hash = HASH_BEGIN;
  for (let at = start; at < end; at += 1) hash = step(hash, codes[at] ?? 0);
  return hash;
}

/** Spreads the last characters over all bits (the finaliser of MurmurHash3). */
export function mix(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
