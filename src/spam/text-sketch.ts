import { isUnspaced } from "./characters.ts";
import { hashOfCodes, mix } from "./hashing.ts";
import { endOfUnspaced, MAX_WORDS, type TextWords } from "./read-words.ts";

/** A small fingerprint of a text, by which copies are found. It cannot be converted back to the text. */
export interface TextSketch {
  /**
   * Keys for looking up earlier texts: the first stands for exactly the same words, the others, of long texts, for nearly the same. Two
   * texts that share a key may be copies; {@link likenessOf} decides.
   */
  readonly keys: readonly number[];
  /** The MinHash values of a long text, empty for a short one. The more values of two texts agree, the more alike they are. */
  readonly values: Readonly<Uint32Array>;
}

/** The least number of words of a text that has a sketch. Shorter texts ("thanks", "test") say nothing if they are repeated. */
const MIN_WORDS = 4;
/** The least number of words of a text for which a nearly identical text counts as a copy too. */
const MIN_NEAR_WORDS = 20;
const SKETCH_VALUES = 12;
/** The number of values in one key. With 12 values, texts that are 75 % alike share one of the 4 keys nine times in ten. */
const VALUES_A_KEY = 3;
/** The numbers of equal values, of 12, in texts that are about 75 % alike and about 60 % alike. */
const COPY_VALUES = 9;
const VARIANT_VALUES = 7;
export const NO_VALUES = new Uint32Array();
/** The seeds of the hash functions. Each value is the lowest hash of the text with one of them. */
const SEEDS = Int32Array.from({ length: SKETCH_VALUES }, (_, index) => Math.imul(index + 1, 0x9e3779b1));

/** The parts by which texts are compared: words, and pairs of neighbouring characters in scripts without spaces. */
interface Tokens {
  readonly count: number;
  readonly hashes: Readonly<Uint32Array>;
  /** The length of the text in words; two characters of a script without spaces count as one word. */
  readonly length: number;
}

/** Makes the sketch of a text with these words; null if the text is too short. */
export function sketchOf(words: TextWords): TextSketch | null {
  const { hashes, count, length } = tokensOf(words);
  if (length < MIN_WORDS) return null;
  const exact = keyOf(0, hashes, 0, count);
  if (length < MIN_NEAR_WORDS) return { keys: [exact], values: NO_VALUES };
  const values = minHashes(hashes, count);
  const keys = [exact];
  for (let from = 0; from < SKETCH_VALUES; from += VALUES_A_KEY) {
    keys.push(keyOf(from + 1, values, from, from + VALUES_A_KEY));
  }
  return { keys, values };
}

const hashes = new Uint32Array(MAX_WORDS);

/** Splits a text into the parts by which it is compared. They are valid until the next call. */
function tokensOf(words: TextWords): Tokens {
  const { codes, starts } = words;
  let count = 0;
  let length = 0;
  for (let index = 0; index < words.count && count < MAX_WORDS; index += 1) {
    const start = starts[index] ?? 0;
    if (!isUnspaced(codes[start] ?? 0)) {
      hashes[count] = words.hashes[index] ?? 0;
      count += 1;
      length += 1;
      continue;
    }
    const end = endOfUnspaced(words, index);
    for (let at = start; at < Math.max(start + 1, end - 1) && count < MAX_WORDS; at += 1) {
      hashes[count] = mix(hashOfCodes(codes, at, Math.min(at + 2, end)));
      count += 1;
    }
    length += (end - start) / 2;
  }
  return { count, hashes, length };
}

const shingles = new Uint32Array(MAX_WORDS);

/** Makes the MinHash values over all sequences of three tokens. */
function minHashes(hashes: Readonly<Uint32Array>, count: number): Uint32Array {
  const threes = shingles;
  for (let at = 2; at < count; at += 1)
    threes[at] = mix(mix(mix(hashes[at - 2] ?? 0) ^ (hashes[at - 1] ?? 0)) ^ (hashes[at] ?? 0));
  const values = new Uint32Array(SKETCH_VALUES);
  for (let from = 0; from < SKETCH_VALUES; from += 4) putLeastHashes(values, from, threes, count);
  return values;
}

/** Calculates four values in one loop, because a step of the loop costs as much as one hash. */
function putLeastHashes(
  values: Uint32Array,
  from: number,
  threes: Readonly<Uint32Array>,
  count: number,
): void {
  const seed0 = SEEDS[from] ?? 0;
  const seed1 = SEEDS[from + 1] ?? 0;
  const seed2 = SEEDS[from + 2] ?? 0;
  const seed3 = SEEDS[from + 3] ?? 0;
  let least0 = 0xffff_ffff;
  let least1 = least0;
  let least2 = least0;
  let least3 = least0;
  for (let at = 2; at < count; at += 1) {
    const three = threes[at] ?? 0;
    const hash0 = mix(three ^ seed0);
    if (hash0 < least0) least0 = hash0;
    const hash1 = mix(three ^ seed1);
    if (hash1 < least1) least1 = hash1;
    const hash2 = mix(three ^ seed2);
    if (hash2 < least2) least2 = hash2;
    const hash3 = mix(three ^ seed3);
    if (hash3 < least3) least3 = hash3;
  }
  values[from] = least0;
  values[from + 1] = least1;
  values[from + 2] = least2;
  values[from + 3] = least3;
}

/** How alike two texts are that share a key; null if they are different texts. */
export type Likeness = "copy" | "variant" | null;

/**
 * Compares two texts. Texts with the same words are copies, and so are long texts that are about 75 % alike. Long texts that are about 60 %
 * alike are variants.
 */
export function likenessOf(one: TextSketch, other: TextSketch): Likeness {
  if (one.keys[0] === other.keys[0]) return "copy";
  const equal = countEqual(one.values, other.values);
  if (equal >= COPY_VALUES) return "copy";
  return equal >= VARIANT_VALUES ? "variant" : null;
}

function countEqual(one: Readonly<Uint32Array>, other: Readonly<Uint32Array>): number {
  let equal = 0;
  for (let index = 0; index < one.length; index += 1) if (one[index] === other[index]) equal += 1;
  return equal;
}

/**
 * A key of 52 bits from several hashes. A number holds it exactly, with room for a scope. `salt` makes keys of different kinds different.
 */
function keyOf(salt: number, hashes: Readonly<Uint32Array>, start: number, end: number): number {
  let high = mix(salt ^ 0x51ed270b);
  let low = mix(salt ^ 0x2f0b4c47);
  for (let at = start; at < end; at += 1) {
    const hash = hashes[at] ?? 0;
    high = mix(high ^ hash);
    low = mix(Math.imul(low, 31) ^ hash);
  }
  return (high >>> 12) * 2 ** 32 + low;
}
