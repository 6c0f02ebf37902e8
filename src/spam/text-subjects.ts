import { BucketSet } from "./bucket-set.ts";
import { HASH_BEGIN, mix, step } from "./hashing.ts";
import { MAX_WORDS, type TextWords } from "./read-words.ts";
import { SUBJECT_WORDS } from "./subject-words.ts";

const lists = Object.values(SUBJECT_WORDS).map((words) => words.split(/\s+/));

export const SUBJECTS = lists.length;

/** Open addressing by the words' hashes; 0 is free. At most a quarter is filled, so most words are ruled out at once. */
const SLOTS = 8192;
const slotHashes = new Uint32Array(SLOTS);
const slotSubjects = new Uint8Array(SLOTS);
lists.forEach((words, subject) => {
  for (const word of words) enter(hashOf(word), subject);
});

const MAX_FOUND = 4 * MAX_WORDS;
const subjectSet = new BucketSet(64, MAX_FOUND);
const found = new Uint16Array(MAX_FOUND);

/** The different subjects that the words of a normalised text mention. Valid until the next call. */
export function subjectsOf(text: string, words: TextWords): Readonly<BucketSet> {
  let count = 0;
  for (let index = 0; index < words.count && count < MAX_FOUND; index += 1) {
    const start = words.starts[index] ?? 0;
    if (isUnspaced(text.charCodeAt(start))) {
      count = findInside(text, start, words.ends[index] ?? 0, count);
      continue;
    }
    const subject = subjectOf(words.hashes[index] ?? 0);
    if (subject === null) continue;
    found[count] = subject;
    count += 1;
  }
  return subjectSet.hold(found, count);
}

function subjectOf(hash: number): number | null {
  for (let slot = hash % SLOTS; slotHashes[slot] !== 0; slot = (slot + 1) % SLOTS) {
    if (slotHashes[slot] === hash) return slotSubjects[slot] ?? null;
  }
  return null;
}

function enter(hash: number, subject: number): void {
  let slot = hash % SLOTS;
  while (slotHashes[slot] !== 0) slot = (slot + 1) % SLOTS;
  slotHashes[slot] = hash;
  slotSubjects[slot] = subject;
}

/** As `readWords` hashes a word. */
function hashOf(word: string): number {
  let hash = HASH_BEGIN;
  for (let at = 0; at < word.length; at += 1) hash = step(hash, word.charCodeAt(at));
  return mix(hash);
}

/** Japanese and Chinese, which have no spaces between words. */
function isUnspaced(code: number): boolean {
  return code >= 0x3040 && code <= 0x9fff;
}

const LONGEST_UNSPACED = 6;

/** Each run of up to {@link LONGEST_UNSPACED} characters that is a subject's word; returns how many are found now. */
function findInside(text: string, from: number, end: number, before: number): number {
  let count = before;
  for (let start = from; start < end; start += 1) {
    let hash = HASH_BEGIN;
    for (let at = start; at < end && at < start + LONGEST_UNSPACED && count < MAX_FOUND; at += 1) {
      hash = step(hash, text.charCodeAt(at));
      const subject = subjectOf(mix(hash));
      if (subject === null) continue;
      found[count] = subject;
      count += 1;
    }
  }
  return count;
}
