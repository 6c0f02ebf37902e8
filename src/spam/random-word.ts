import { isAsciiLetter, isWhitespace, SPACE } from "./characters.ts";
import { TextCodes } from "./text-codes.ts";
import { letterSurprise } from "./text-model.ts";

const MIN_LENGTH = 7;
const MAX_LENGTH = 40;
/**
 * The surprise from which a word looks random. Words and names of three dozen languages stay below 70 (Polish ones come nearest); random
 * texts reach 60 to 110.
 */
const SURPRISE = 74;
/** The surprise from which a word with capitals inside looks random. It is lower, because such capitals are unusual by themselves. */
const SURPRISE_WITH_CAPITALS = 58;
const MIN_INNER_CAPITALS = 2;
const INNER_CAPITAL = /[a-z][A-Z]/g;

/** The random-looking words of a text. */
export interface RandomWords {
  readonly first: string | null;
  /** The number of characters of all these words. */
  readonly length: number;
}

const textCodes = new TextCodes();

/** Finds words of Latin letters that have unusual pairs of letters, or capitals inside. */
export function findRandomWords(text: string): RandomWords {
  const codes = textCodes.read(text);
  const end = text.length;
  let first: string | null = null;
  let length = 0;
  let start = 0;
  let isLetters = true;
  for (let at = 0; at <= end; at += 1) {
    const code = at < end ? (codes[at] ?? 0) : SPACE;
    if (isAsciiLetter(code)) continue;
    if (!isWhitespace(code)) {
      isLetters = false;
      continue;
    }
    if (isLetters && at - start >= MIN_LENGTH && isRandom(text, codes, start, at)) {
      first ??= text.slice(start, at);
      length += at - start;
    }
    start = at + 1;
    isLetters = true;
  }
  return { first, length };
}

/** @param codes the UTF-16 units of the text. */
function isRandom(text: string, codes: Readonly<Uint16Array>, start: number, end: number): boolean {
  if (end - start > MAX_LENGTH) return false;
  const surprise = letterSurprise(codes, start, end);
  if (surprise >= SURPRISE) return true;
  if (surprise < SURPRISE_WITH_CAPITALS) return false;
  return (text.slice(start, end).match(INNER_CAPITAL)?.length ?? 0) >= MIN_INNER_CAPITALS;
}
