import { eachWord } from "./text-features.ts";

/** What stands for a text when copies of it are looked for; small, and not to be turned back into the text. */
export interface TextSketch {
  /**
   * Keys to look earlier texts up by: the first for the same words, the others for nearly the same in long texts. Two
   * texts that share one may be copies; {@link isCopy} says.
   */
  readonly keys: readonly number[];
  /** MinHash values of a long text, empty for a short one: texts are as alike as the values that agree. */
  readonly values: Readonly<Uint32Array>;
}

/** Shorter texts ("thanks", "test") say nothing when they come again. */
const MIN_WORDS = 4;
/** From so many words on, nearly the same text counts as a copy too. */
const MIN_NEAR_WORDS = 20;
const VALUES = 12;
/** Values in one key: with 12 values, texts that are 75 % alike share one of the 4 keys nine times in ten. */
const VALUES_A_KEY = 3;
/** 9 of 12 values: texts that are about 75 % alike. */
const MIN_EQUAL_VALUES = 9;
const WORDS_A_SHINGLE = 3;

/** The sketch of a normalised text; null for one that is too short. */
export function sketchOf(normalised: string): TextSketch | null {
  const words: number[] = [];
  eachWord(normalised, (start, end) => words.push(hashOf(normalised, start, end)));
  if (words.length < MIN_WORDS) return null;
  const exact = keyOf(0, words);
  if (words.length < MIN_NEAR_WORDS) return { keys: [exact], values: new Uint32Array() };
  const values = new Uint32Array(VALUES).fill(0xffff_ffff);
  for (let at = 0; at + WORDS_A_SHINGLE <= words.length; at += 1) {
    let shingle = 0;
    for (let next = at; next < at + WORDS_A_SHINGLE; next += 1) shingle = mix(shingle ^ (words[next] ?? 0));
    for (let index = 0; index < VALUES; index += 1) {
      const value = mix(shingle ^ Math.imul(index + 1, 0x9e3779b1));
      if (value < (values[index] ?? 0)) values[index] = value;
    }
  }
  const keys = [exact];
  for (let from = 0; from < VALUES; from += VALUES_A_KEY) {
    keys.push(keyOf(from + 1, [...values.subarray(from, from + VALUES_A_KEY)]));
  }
  return { keys, values };
}

/** Whether two texts that share a key are copies: the same words, or long texts that are about 75 % alike. */
export function isCopy(one: TextSketch, other: TextSketch): boolean {
  if (one.keys[0] === other.keys[0]) return true;
  if (one.values.length !== VALUES || other.values.length !== VALUES) return false;
  return one.values.filter((value, index) => value === other.values[index]).length >= MIN_EQUAL_VALUES;
}

/** 52 bits of several hashes, which a number holds exactly and leaves room to scope; `salt` keeps keys of different kinds apart. */
function keyOf(salt: number, hashes: readonly number[]): number {
  let high = mix(salt ^ 0x51ed270b);
  let low = mix(salt ^ 0x2f0b4c47);
  for (const hash of hashes) {
    high = mix(high ^ hash);
    low = mix(Math.imul(low, 31) ^ hash);
  }
  return (high >>> 12) * 2 ** 32 + low;
}

function hashOf(text: string, start: number, end: number): number {
  let hash = 0x811c9dc5;
  for (let at = start; at < end; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return mix(hash);
}

function mix(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
