import { BucketSet } from "./bucket-set.ts";
import { isUnspaced, isWhitespace } from "./characters.ts";
import { HASH_BEGIN, hashOf, mix, step } from "./hashing.ts";
import { endOfUnspaced, MAX_WORDS, type TextWords } from "./read-words.ts";

/** Buckets of each kind of hashed features: words and what is in them are one kind, 3 and 4 characters in a row the other. */
export const BUCKETS = 131_072;
/** Bits of a hash that a bucket leaves out. */
const SHIFT = 15;

const SPACE = 32;
const MAX_CHARACTERS = 2000;
/** Characters that are read to find that many, a run of white space counting as one. */
const MAX_LOOKED_AT = 2 * MAX_CHARACTERS;

/** Letters at the beginning of a word that stand for all its forms. */
const BEGINNING = 5;
/** Characters of scripts without spaces that are read as pieces of words, and the longest piece. */
const MAX_PIECED = 2000;
export const LONGEST_PIECE = 3;
/** So that a piece is another feature than a word of the same letters, and a beginning too. */
const PIECE_SALT = 501;
const BEGINNING_SALT = 1235;

const MAX_WORD_FEATURES = 3 * MAX_WORDS + LONGEST_PIECE * MAX_PIECED;
const wordSet = new BucketSet(BUCKETS, MAX_WORD_FEATURES);
const characterSet = new BucketSet(BUCKETS, 2 * (MAX_CHARACTERS + 2));
const line = new Uint16Array(MAX_CHARACTERS + 2);
/** All buckets of a text, before those that come again are left out. */
const found = new Uint32Array(MAX_WORD_FEATURES);
let count = 0;

/** The different buckets of a text's words and pairs of words. Valid until the next call. */
export function wordBuckets(words: TextWords): Readonly<BucketSet> {
  count = 0;
  for (let index = 0; index < words.count; index += 1) {
    add(wordBucket(words, index));
    if (index > 0) add(pairBucket(words, index));
  }
  return wordSet.hold(found, count);
}

/**
 * The different buckets of a text's words, their beginnings and pairs of them; for scripts without spaces, of every piece of up to
 * {@link LONGEST_PIECE} characters. Valid until the next call.
 */
export function vocabularyBuckets(text: string, words: TextWords): Readonly<BucketSet> {
  count = 0;
  let pieced = 0;
  let isPair = false;
  for (let index = 0; index < words.count; index += 1) {
    const start = words.starts[index] ?? 0;
    const isWord = !isUnspaced(text.charCodeAt(start));
    if (isWord) {
      add(wordBucket(words, index));
      if (isPair) add(pairBucket(words, index));
      if ((words.ends[index] ?? 0) - start >= BEGINNING) add(beginningBucket(text, start));
    } else {
      const end = Math.min(endOfUnspaced(text, words, index), start + MAX_PIECED - pieced);
      pieced += end - start;
      addPieces(text, start, end);
    }
    isPair = isWord;
  }
  return wordSet.hold(found, count);
}

function add(bucket: number): void {
  found[count] = bucket;
  count += 1;
}

function addPieces(text: string, from: number, end: number): void {
  for (let start = from; start < end; start += 1) {
    let hash = HASH_BEGIN;
    for (let at = start; at < end && at < start + LONGEST_PIECE; at += 1) {
      hash = step(hash, text.charCodeAt(at));
      add(mix(hash + PIECE_SALT) >>> SHIFT);
    }
  }
}

/** The bucket of a piece of a word in a script without spaces. */
export function pieceBucket(text: string, start: number, end: number): number {
  return mix(hashOf(text, start, end) + PIECE_SALT) >>> SHIFT;
}

function beginningBucket(text: string, start: number): number {
  return mix(hashOf(text, start, start + BEGINNING) + BEGINNING_SALT) >>> SHIFT;
}

export function wordBucket({ hashes }: TextWords, index: number): number {
  return (hashes[index] ?? 0) >>> SHIFT;
}

/** The bucket of a word and the one before it. */
export function pairBucket({ hashes }: TextWords, index: number): number {
  return mix(Math.imul(hashes[index - 1] ?? 0, 31) + (hashes[index] ?? 0)) >>> SHIFT;
}

/** The different buckets of every 3 and 4 characters in a row. Valid until the next call. */
export function characterBuckets(normalised: string): Readonly<BucketSet> {
  const length = readLine(normalised);
  let filled = 0;
  for (let start = 0; start + 3 <= length; start += 1) {
    const three = step(step(step(HASH_BEGIN, line[start] ?? 0), line[start + 1] ?? 0), line[start + 2] ?? 0);
    const four = step(three, line[start + 3] ?? 0);
    found[filled] = mix(three) >>> SHIFT;
    found[filled + 1] = mix(four + 3) >>> SHIFT;
    // At the end of the line four do not fit, and do not count.
    filled += Math.min(2, length - start - 2);
  }
  return characterSet.hold(found, filled);
}

/** Puts the text between two spaces, every run of white space as one, into {@link line} and returns its length. */
function readLine(text: string): number {
  const end = Math.min(text.length, MAX_LOOKED_AT);
  line[0] = SPACE;
  let length = 1;
  for (let at = 0; at < end && length <= MAX_CHARACTERS; at += 1) {
    const code = text.charCodeAt(at);
    if (!isWhitespace(code)) {
      line[length] = code;
      length += 1;
    } else if (line[length - 1] !== SPACE) {
      line[length] = SPACE;
      length += 1;
    }
  }
  line[length] = SPACE;
  // A text that is cut after a space has two at its end.
  return length <= MAX_CHARACTERS && line[length - 1] === SPACE ? length : length + 1;
}
