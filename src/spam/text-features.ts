import { BucketSet } from "./bucket-set.ts";
import { isUnspaced, isWhitespace, SPACE } from "./characters.ts";
import { BUCKET_SHIFT, HASH_BEGIN, hashOf, hashOfCodes, mix, step } from "./hashing.ts";
import { endOfUnspaced, MAX_WORDS, type TextWords } from "./read-words.ts";

/**
 * The number of buckets of each kind of hashed features. Words and parts of words are one kind, sequences of 3 and 4 characters the other.
 */
export const BUCKETS = 131_072;

const MAX_CHARACTERS = 2000;

/** The number of letters at the beginning of a word that stand for all its forms. */
const BEGINNING = 5;
/** The largest number of characters of scripts without spaces that are read in pieces, and the length of the longest piece. */
const MAX_PIECED = 2000;
export const LONGEST_PIECE = 3;
/** Makes a piece or a beginning another feature than a word of the same letters. */
const PIECE_SALT = 501;
const BEGINNING_SALT = 1235;

const MAX_WORD_FEATURES = 3 * MAX_WORDS + LONGEST_PIECE * MAX_PIECED;
const wordSet = new BucketSet(BUCKETS, MAX_WORD_FEATURES);
const characterSet = new BucketSet(BUCKETS, 2 * (MAX_CHARACTERS + 2));
const line = new Uint16Array(MAX_CHARACTERS + 2);
/** All buckets of a text, with repetitions. */
const found = new Uint32Array(MAX_WORD_FEATURES);

/** The different buckets of the words and pairs of words of a text. Valid until the next call. */
export function wordBuckets(words: TextWords): Readonly<BucketSet> {
  let count = 0;
  for (let index = 0; index < words.count; index += 1) {
    found[count++] = wordBucket(words, index);
    if (index > 0) found[count++] = pairBucket(words, index);
  }
  return wordSet.hold(found, count);
}

/**
 * The different buckets of a text for the text model: its words, their beginnings, and pairs of words; in scripts without spaces, all
 * pieces of up to {@link LONGEST_PIECE} characters. Valid until the next call.
 */
export function vocabularyBuckets(words: TextWords): Readonly<BucketSet> {
  const { codes, starts, ends } = words;
  let count = 0;
  let pieced = 0;
  let isPair = false;
  for (let index = 0; index < words.count; index += 1) {
    const start = starts[index] ?? 0;
    const isWord = !isUnspaced(codes[start] ?? 0);
    if (isWord) {
      found[count++] = wordBucket(words, index);
      if (isPair) found[count++] = pairBucket(words, index);
      if ((ends[index] ?? 0) - start >= BEGINNING) found[count++] = beginningBucket(codes, start);
    } else {
      const end = Math.min(endOfUnspaced(words, index), start + MAX_PIECED - pieced);
      pieced += end - start;
      count = addPieces(codes, start, end, count);
    }
    isPair = isWord;
  }
  return wordSet.hold(found, count);
}

/** @returns the number of buckets found so far, with the new ones. */
function addPieces(codes: Readonly<Uint16Array>, from: number, end: number, foundBefore: number): number {
  let count = foundBefore;
  for (let start = from; start < end; start += 1) {
    let hash = HASH_BEGIN;
    for (let at = start; at < end && at < start + LONGEST_PIECE; at += 1) {
      hash = step(hash, codes[at] ?? 0);
      found[count++] = mix(hash + PIECE_SALT) >>> BUCKET_SHIFT;
    }
  }
  return count;
}

/** The bucket of a piece of a word in a script without spaces. */
export function pieceBucket(text: string, start: number, end: number): number {
  return mix(hashOf(text, start, end) + PIECE_SALT) >>> BUCKET_SHIFT;
}

function beginningBucket(codes: Readonly<Uint16Array>, start: number): number {
  return mix(hashOfCodes(codes, start, start + BEGINNING) + BEGINNING_SALT) >>> BUCKET_SHIFT;
}

export function wordBucket({ hashes }: TextWords, index: number): number {
  return (hashes[index] ?? 0) >>> BUCKET_SHIFT;
}

/** The bucket of the pair of a word and the word before it. */
export function pairBucket({ hashes }: TextWords, index: number): number {
  return mix(Math.imul(hashes[index - 1] ?? 0, 31) + (hashes[index] ?? 0)) >>> BUCKET_SHIFT;
}

/**
 * The different buckets of all sequences of 3 and 4 characters. Valid until the next call.
 *
 * With each character, the hashes of the sequences of one to four characters that end there follow from those that ended before it. This is
 * most of the cost of scoring. So the loop has no call, no branch and no variable of the module.
 */
export function characterBuckets(words: TextWords): Readonly<BucketSet> {
  const codes = line;
  const length = readLine(words, codes);
  const { met, buckets } = characterSet.clear();
  if (length < 3) return characterSet;
  const [first, second, third] = [codes[0] ?? 0, codes[1] ?? 0, codes[2] ?? 0];
  let one = step(HASH_BEGIN, third);
  let two = step(step(HASH_BEGIN, second), third);
  let three = step(step(step(HASH_BEGIN, first), second), third);
  let bucket = mix(three) >>> BUCKET_SHIFT;
  buckets[0] = bucket;
  met[bucket >>> 5] = 1 << (bucket & 31);
  let count = 1;
  for (let at = 3; at < length; at += 1) {
    const code = codes[at] ?? 0;
    bucket = mix(step(three, code) + 3) >>> BUCKET_SHIFT;
    let bits = met[bucket >>> 5] ?? 0;
    met[bucket >>> 5] = bits | (1 << (bucket & 31));
    buckets[count] = bucket;
    count += ((bits >>> (bucket & 31)) & 1) ^ 1;
    three = step(two, code);
    bucket = mix(three) >>> BUCKET_SHIFT;
    bits = met[bucket >>> 5] ?? 0;
    met[bucket >>> 5] = bits | (1 << (bucket & 31));
    buckets[count] = bucket;
    count += ((bits >>> (bucket & 31)) & 1) ^ 1;
    two = step(one, code);
    one = step(HASH_BEGIN, code);
  }
  characterSet.count = count;
  return characterSet;
}

/**
 * Writes the text into a line, with a space at both ends and every run of white space as one space. Returns the length of the line. Reads
 * at most twice the number of characters that fit.
 */
function readLine({ codes, length: end }: TextWords, into: Uint16Array): number {
  const mostPut = into.length - 2;
  const mostRead = Math.min(end, 2 * mostPut);
  into[0] = SPACE;
  let length = 1;
  let isAfterSpace = true;
  for (let at = 0; at < mostRead && length <= mostPut; at += 1) {
    const code = codes[at] ?? 0;
    const isSpace = isWhitespace(code);
    if (isSpace && isAfterSpace) continue;
    into[length] = isSpace ? SPACE : code;
    length += 1;
    isAfterSpace = isSpace;
  }
  into[length] = SPACE;
  // A text that was cut after a space has two spaces at its end.
  return length <= mostPut && isAfterSpace ? length : length + 1;
}
