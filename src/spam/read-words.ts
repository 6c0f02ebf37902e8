import { isUnspaced, isWordCharacter } from "./characters.ts";
import { HASH_BEGIN, mix, step } from "./hashing.ts";
import { TextCodes } from "./text-codes.ts";

/**
 * The largest number of words that are read, and of characters of a word. They bound the time for one post; pitches make their offer early.
 */
export const MAX_WORDS = 500;
const MAX_WORD_LENGTH = 40;

/** The words of a text in order. They are valid until the next text is read, because the arrays are used again to avoid allocations. */
export interface TextWords {
  /** The UTF-16 units of the text; only the first {@link length} belong to it. */
  readonly codes: Readonly<Uint16Array>;
  readonly length: number;
  readonly count: number;
  readonly hashes: Readonly<Uint32Array>;
  /** The start and end of each word in the text. A long word ends after its first {@link MAX_WORD_LENGTH} characters. */
  readonly starts: Readonly<Uint32Array>;
  readonly ends: Readonly<Uint32Array>;
}

const textCodes = new TextCodes();
const hashes = new Uint32Array(MAX_WORDS);
const starts = new Uint32Array(MAX_WORDS);
const ends = new Uint32Array(MAX_WORDS);

/** Reads the first {@link MAX_WORDS} words of a normalised text. A word is a run of letters, marks and apostrophes. */
export function readWords(text: string): TextWords {
  const { length } = text;
  const codes = textCodes.read(text);
  let count = 0;
  let at = 0;
  while (at < length && count < MAX_WORDS) {
    const start = at;
    const longest = start + MAX_WORD_LENGTH;
    let hash = HASH_BEGIN;
    for (; at < length; at += 1) {
      const code = codes[at] ?? 0;
      if (!isWordCharacter(code)) break;
      if (at < longest) hash = step(hash, code);
    }
    if (at > start) {
      hashes[count] = mix(hash);
      starts[count] = start;
      ends[count] = Math.min(at, longest);
      count += 1;
    }
    at += 1;
  }
  return { codes, length, count, hashes, starts, ends };
}

/** The words that start before a position, as if the text ended there. */
export function wordsBefore(words: TextWords, position: number): TextWords {
  if (position >= words.length) return words;
  let { count } = words;
  while (count > 0 && (words.starts[count - 1] ?? 0) >= position) count -= 1;
  return { ...words, length: position, count };
}

/**
 * The end of the run of characters without a space that begins with a word. In scripts without spaces a sentence is longer than the longest
 * word.
 */
export function endOfUnspaced({ codes, length, ends }: TextWords, index: number): number {
  let end = ends[index] ?? 0;
  while (end < length && isUnspaced(codes[end] ?? 0)) end += 1;
  return end;
}
