import { isUnspaced, isWordCharacter } from "./characters.ts";
import { HASH_BEGIN, mix, step } from "./hashing.ts";

/** Limits on what is read: they bound the time for one post, and pitches make their offer early. */
export const MAX_WORDS = 500;
const MAX_WORD_LENGTH = 40;

/** The words of a text in order. Valid until the next text is read: the arrays are reused, so reading allocates nothing. */
export interface TextWords {
  readonly count: number;
  readonly hashes: Readonly<Uint32Array>;
  /** Start and end of each word in the text; long words end after their first {@link MAX_WORD_LENGTH} characters. */
  readonly starts: Readonly<Uint32Array>;
  readonly ends: Readonly<Uint32Array>;
}

const hashes = new Uint32Array(MAX_WORDS);
const starts = new Uint32Array(MAX_WORDS);
const ends = new Uint32Array(MAX_WORDS);

/** The first {@link MAX_WORDS} words of a normalised text; a word is a run of letters, marks and apostrophes. */
export function readWords(text: string): TextWords {
  let count = 0;
  for (let at = 0; at < text.length && count < MAX_WORDS; at += 1) {
    let code = text.charCodeAt(at);
    if (!isWordCharacter(code)) continue;
    const start = at;
    const longest = start + MAX_WORD_LENGTH;
    let hash = HASH_BEGIN;
    do {
      if (at < longest) hash = step(hash, code);
      at += 1;
      code = at < text.length ? text.charCodeAt(at) : 0;
    } while (isWordCharacter(code));
    hashes[count] = mix(hash);
    starts[count] = start;
    ends[count] = Math.min(at, longest);
    count += 1;
  }
  return { count, hashes, starts, ends };
}

/** The part of the words that starts before a position of the text. */
export function wordsBefore(words: TextWords, position: number): TextWords {
  let { count } = words;
  while (count > 0 && (words.starts[count - 1] ?? 0) >= position) count -= 1;
  return count === words.count ? words : { ...words, count };
}

/** The end of what a text has without a space from a word on: sentences of such scripts pass the longest word. */
export function endOfUnspaced(text: string, { ends }: TextWords, index: number): number {
  let end = ends[index] ?? 0;
  while (end < text.length && isUnspaced(text.charCodeAt(end))) end += 1;
  return end;
}
