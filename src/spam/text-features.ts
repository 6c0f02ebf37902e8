import { BucketSet } from "./bucket-set.ts";
import { isWhitespace } from "./characters.ts";
import { HASH_BEGIN, mix, step } from "./hashing.ts";
import { MAX_WORDS, type TextWords } from "./read-words.ts";

/** Buckets of one kind of hashed features: of words and pairs of words, and as many of 3 to 5 characters in a row. */
export const BUCKETS = 131_072;
/** Bits of a hash that a bucket leaves out. */
const SHIFT = 15;

const SPACE = 32;
const MAX_CHARACTERS = 2000;
/** Characters that are read to find that many, a run of white space counting as one. */
const MAX_LOOKED_AT = 2 * MAX_CHARACTERS;

const wordSet = new BucketSet(BUCKETS, 2 * MAX_WORDS);
const characterSet = new BucketSet(BUCKETS, 3 * (MAX_CHARACTERS + 2));
const line = new Uint16Array(MAX_CHARACTERS + 2);
/** All buckets of a text, before those that come again are left out. */
const found = new Uint32Array(3 * (MAX_CHARACTERS + 2));

/** The different buckets of a text's words and pairs of words. Valid until the next call. */
export function wordBuckets(words: TextWords): Readonly<BucketSet> {
  let count = 0;
  for (let index = 0; index < words.count; index += 1) {
    found[count] = wordBucket(words, index);
    count += 1;
    if (index === 0) continue;
    found[count] = pairBucket(words, index);
    count += 1;
  }
  return wordSet.hold(found, count);
}

export function wordBucket({ hashes }: TextWords, index: number): number {
  return (hashes[index] ?? 0) >>> SHIFT;
}

/** The bucket of a word and the one before it. */
export function pairBucket({ hashes }: TextWords, index: number): number {
  return mix(Math.imul(hashes[index - 1] ?? 0, 31) + (hashes[index] ?? 0)) >>> SHIFT;
}

/** The different buckets of every 3 to 5 characters in a row. Valid until the next call. */
export function characterBuckets(normalised: string): Readonly<BucketSet> {
  const length = readLine(normalised);
  let count = 0;
  for (let start = 0; start + 3 <= length; start += 1) {
    const three = step(step(step(HASH_BEGIN, line[start] ?? 0), line[start + 1] ?? 0), line[start + 2] ?? 0);
    const four = step(three, line[start + 3] ?? 0);
    const five = step(four, line[start + 4] ?? 0);
    found[count] = mix(three) >>> SHIFT;
    found[count + 1] = mix(four + 3) >>> SHIFT;
    found[count + 2] = mix(five + 4) >>> SHIFT;
    // At the end of the line the longer ones do not fit, and do not count.
    count += Math.min(3, length - start - 2);
  }
  return characterSet.hold(found, count);
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
