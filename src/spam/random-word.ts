import { isAsciiLetter, isWhitespace } from "./characters.ts";
import { letterSurprise } from "./text-model.ts";

const MIN_LENGTH = 7;
const MAX_LENGTH = 40;
/** Words and names of three dozen languages stay below 70 (Polish ones come nearest); random strings reach 60 to 110. */
const SURPRISE = 74;
/** Capitals inside a word are unusual by themselves, so less other evidence is needed. */
const SURPRISE_WITH_CAPITALS = 58;
const MIN_INNER_CAPITALS = 2;
const INNER_CAPITAL = /[a-z][A-Z]/g;

/** The parts of a text that look random. */
export interface RandomWords {
  readonly first: string | null;
  /** Characters in all of them. */
  readonly length: number;
}

/** Runs of Latin letters between white space with unusual pairs of letters, or with capitals inside. */
export function findRandomWords(text: string): RandomWords {
  let first: string | null = null;
  let length = 0;
  for (let at = 0; at < text.length; at += 1) {
    const start = at;
    let isLetters = true;
    for (; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (isAsciiLetter(code)) continue;
      if (isWhitespace(code)) break;
      isLetters = false;
    }
    if (!isLetters || !isRandom(text, start, at)) continue;
    first ??= text.slice(start, at);
    length += at - start;
  }
  return { first, length };
}

function isRandom(text: string, start: number, end: number): boolean {
  if (end - start < MIN_LENGTH || end - start > MAX_LENGTH) return false;
  const surprise = letterSurprise(text, start, end);
  if (surprise >= SURPRISE) return true;
  if (surprise < SURPRISE_WITH_CAPITALS) return false;
  return (text.slice(start, end).match(INNER_CAPITAL)?.length ?? 0) >= MIN_INNER_CAPITALS;
}
