import { BucketSet } from "./bucket-set.ts";
import { isUnspaced } from "./characters.ts";
import { HASH_BEGIN, hashOf, hashOfCodes, mix, step } from "./hashing.ts";
import { endOfUnspaced, MAX_WORDS, type TextWords } from "./read-words.ts";
import { SUBJECT_WORDS } from "./subject-words.ts";

const SUBJECTS = Object.keys(SUBJECT_WORDS).length;

/**
 * The number of buckets: one for each subject, then one for each ordered pair. "offer, then price" is another pair than "price, then
 * offer".
 */
export const SUBJECT_PLACES = SUBJECTS + SUBJECTS * SUBJECTS;

/**
 * The size of a hash table with open addressing, by the hashes of words; 0 is a free slot. A quarter of it is filled, so most words are
 * rejected at once.
 */
const SLOTS = 32_768;
const LAST_SLOT = SLOTS - 1;
const slotHashes = new Uint32Array(SLOTS);
const slotSubjects = new Uint8Array(SLOTS);
let isFilled = false;

/** Fills the table, which takes 3 ms, when the first text is scored: most commands score none. */
function fillSlots(): void {
  Object.values(SUBJECT_WORDS).forEach((words, subject) => {
    for (const word of words.split(/\s+/)) enter(mix(hashOf(word, 0, word.length)), subject);
  });
  isFilled = true;
}

function enter(hash: number, subject: number): void {
  let slot = hash & LAST_SLOT;
  while (slotHashes[slot] !== 0) slot = (slot + 1) & LAST_SLOT;
  slotHashes[slot] = hash;
  slotSubjects[slot] = subject;
}

const MAX_MENTIONS = 4 * MAX_WORDS;
/** The subjects that the text mentions, in order, and the index of the word that mentions each. */
const mentioned = new Uint8Array(MAX_MENTIONS);
const mentionedBy = new Uint16Array(MAX_MENTIONS);
let mentions = 0;

/** The largest distance between the two mentions of a pair, in words. */
const MAX_STEP = 4;
const buckets = new BucketSet(2048, 2 * MAX_MENTIONS);
const found = new Uint32Array(2 * MAX_MENTIONS);

/** The different buckets of the subjects of a normalised text, and of pairs of them. Valid until the next call. */
export function subjectBuckets(words: TextWords): Readonly<BucketSet> {
  if (!isFilled) fillSlots();
  findMentions(words);
  let count = 0;
  for (let index = 0; index < mentions; index += 1) {
    const subject = mentioned[index] ?? 0;
    found[count] = subject;
    count += 1;
    if (index === 0) continue;
    const before = mentioned[index - 1] ?? 0;
    if (before === subject || (mentionedBy[index] ?? 0) - (mentionedBy[index - 1] ?? 0) > MAX_STEP) continue;
    found[count] = SUBJECTS + before * SUBJECTS + subject;
    count += 1;
  }
  return buckets.hold(found, count);
}

function findMentions(words: TextWords): void {
  const { codes } = words;
  mentions = 0;
  for (let index = 0; index < words.count; index += 1) {
    const start = words.starts[index] ?? 0;
    const end = words.ends[index] ?? 0;
    const code = codes[start] ?? 0;
    if (isUnspaced(code)) findInside(codes, start, endOfUnspaced(words, index), index);
    else if (!mentionSubjectOf(words.hashes[index] ?? 0, index) && isSemitic(code)) {
      findBehindPrefix(codes, start, end, index);
    }
  }
}

/** Adds a mention if a subject has this word. @returns whether one has it. */
function mentionSubjectOf(hash: number, word: number): boolean {
  const held = slotHashes;
  const last = held.length - 1;
  for (let slot = hash & last; held[slot] !== 0; slot = (slot + 1) & last) {
    if (held[slot] !== hash) continue;
    if (mentions === MAX_MENTIONS) return true;
    mentioned[mentions] = slotSubjects[slot] ?? 0;
    mentionedBy[mentions] = word;
    mentions += 1;
    return true;
  }
  return false;
}

/** Hebrew and Arabic join short words like "and", "the" and "in" to the word after them. */
function isSemitic(code: number): boolean {
  return code >= 0x0590 && code <= 0x06ff;
}

const LONGEST_PREFIX = 3;
const SHORTEST_REST = 3;

/** Searches for the word without its first letters. It tries to leave out one letter first, then more. */
function findBehindPrefix(codes: Readonly<Uint16Array>, from: number, end: number, word: number): void {
  const last = Math.min(from + LONGEST_PREFIX, end - SHORTEST_REST);
  for (let start = from + 1; start <= last; start += 1) {
    if (mentionSubjectOf(mix(hashOfCodes(codes, start, end)), word)) return;
  }
}

const LONGEST_UNSPACED = 8;

/** Searches for every sequence of up to {@link LONGEST_UNSPACED} characters, because each may be a word of a subject. */
function findInside(codes: Readonly<Uint16Array>, from: number, end: number, word: number): void {
  for (let start = from; start < end; start += 1) {
    let hash = HASH_BEGIN;
    for (let at = start; at < end && at < start + LONGEST_UNSPACED; at += 1) {
      hash = step(hash, codes[at] ?? 0);
      mentionSubjectOf(mix(hash), word);
    }
  }
}
