/** Buckets of hashed features: word unigrams and bigrams in the upper half, character 3- to 5-grams in the lower. */
export const BUCKETS = 65_536;
const HALF = BUCKETS / 2;

/** Past these nothing is read: they bound the time for one post, and pitches make their offer early. */
const MAX_WORDS = 500;
const MAX_CHARACTERS = 2000;
const MAX_WORD_LENGTH = 40;

/** The different buckets that a text falls into. Valid until the next call: the arrays are reused. */
export interface TextBuckets {
  readonly words: Readonly<Uint16Array>;
  readonly characters: Readonly<Uint16Array>;
}

const wordScratch = new Uint16Array(2 * MAX_WORDS);
const characterScratch = new Uint16Array(3 * (MAX_CHARACTERS + 2));
/** The number of the call that last met a bucket, so that nothing need be cleared between calls. */
const met = new Uint32Array(BUCKETS);
let calls = 0;

/** The features of a normalised text: what the model is trained on and judges by. */
export function textBuckets(normalised: string): TextBuckets {
  calls = calls === 0xffff_ffff ? restart() : calls + 1;
  return { words: wordBuckets(normalised), characters: characterBuckets(normalised) };
}

function restart(): number {
  met.fill(0);
  return 1;
}

function wordBuckets(normalised: string): Readonly<Uint16Array> {
  let count = 0;
  eachWordBucket(normalised, (bucket) => (count = note(wordScratch, count, bucket)));
  return wordScratch.subarray(0, count);
}

/** Every 3 to 5 characters in a row, with runs of spaces and line breaks as one space. */
function characterBuckets(normalised: string): Readonly<Uint16Array> {
  const line = ` ${normalised
    .slice(0, 2 * MAX_CHARACTERS)
    .replace(/\s+/g, " ")
    .trim()
    .slice(0, MAX_CHARACTERS)} `;
  let count = 0;
  for (let start = 0; start + 3 <= line.length; start += 1) {
    let hash = step(
      step(step(0x811c9dc5, line.charCodeAt(start)), line.charCodeAt(start + 1)),
      line.charCodeAt(start + 2),
    );
    count = note(characterScratch, count, mix(hash) >>> 17);
    for (let next = start + 3; next < start + 5 && next < line.length; next += 1) {
      hash = step(hash, line.charCodeAt(next));
      count = note(characterScratch, count, mix(hash + next - start) >>> 17);
    }
  }
  return characterScratch.subarray(0, count);
}

function note(target: Uint16Array, count: number, bucket: number): number {
  if (met[bucket] === calls) return count;
  met[bucket] = calls;
  target[count] = bucket;
  return count + 1;
}

/** Calls back with the bucket and the bounds of each word and each pair of words: for explaining, not for judging. */
export function eachWordBucket(
  normalised: string,
  visit: (bucket: number, start: number, end: number) => void,
): void {
  let previous = 0;
  let previousStart = 0;
  eachWord(normalised, (start, end) => {
    const hash = hashOf(normalised, start, end);
    visit(HALF + (hash >>> 17), start, end);
    if (previous !== 0) visit(HALF + (mix(Math.imul(previous, 31) + hash) >>> 17), previousStart, end);
    previous = hash;
    previousStart = start;
  });
}

export function countWords(normalised: string): number {
  let count = 0;
  eachWord(normalised, () => (count += 1));
  return count;
}

/** Calls back with the bounds of each word, up to {@link MAX_WORDS}; a word is a run of letters, marks and apostrophes. */
export function eachWord(text: string, visit: (start: number, end: number) => void): void {
  let seen = 0;
  let start = -1;
  for (let at = 0; at <= text.length && seen < MAX_WORDS; at += 1) {
    const inside = at < text.length && isWordCode(text.charCodeAt(at));
    if (inside && start < 0) start = at;
    else if (!inside && start >= 0) {
      visit(start, Math.min(at, start + MAX_WORD_LENGTH));
      seen += 1;
      start = -1;
    }
  }
}

/** Letters of any script, by ranges: exact enough for hashing, and much faster than a property class. */
function isWordCode(code: number): boolean {
  if (code < 128) return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === 39;
  if (code < 0xc0) return false;
  if (code >= 0x2000 && code <= 0x2bff) return false;
  if (code >= 0x3000 && code <= 0x303f) return false;
  return code < 0xff00 || code > 0xff20;
}

function hashOf(text: string, start: number, end: number): number {
  let hash = 0x811c9dc5;
  for (let at = start; at < end; at += 1) hash = step(hash, text.charCodeAt(at));
  return mix(hash);
}

/** FNV-1a, a character at a time. */
function step(hash: number, code: number): number {
  return Math.imul(hash ^ code, 0x01000193);
}

/** Spreads the last characters over all bits (the finaliser of MurmurHash3). */
function mix(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
