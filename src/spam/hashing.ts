/** The number of low bits of a hash that are dropped to get a bucket. */
export const BUCKET_SHIFT = 15;

/** The start value of {@link step}. */
export const HASH_BEGIN = 0x811c9dc5;

/** Adds one character to a hash (FNV-1a). */
export function step(hash: number, code: number): number {
  return Math.imul(hash ^ code, 0x01000193);
}

/** Hashes a part of a text, without the final {@link mix}. */
export function hashOf(text: string, start: number, end: number): number {
  let hash = HASH_BEGIN;
  for (let at = start; at < end; at += 1) hash = step(hash, text.charCodeAt(at));
  return hash;
}

/** The same as {@link hashOf}, for the UTF-16 units of a text. */
export function hashOfCodes(codes: Readonly<Uint16Array>, start: number, end: number): number {
  let hash = HASH_BEGIN;
  for (let at = start; at < end; at += 1) hash = step(hash, codes[at] ?? 0);
  return hash;
}

/** Finishes a hash: spreads the last characters over all bits (the finaliser of MurmurHash3). */
export function mix(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
