import { letterSurprise } from "./text-model.ts";

const LETTERS = /^[A-Za-z]{7,40}$/;
/** Words and names of three dozen languages stay below 70 (Polish ones come nearest); random strings reach 60 to 110. */
const SURPRISE = 74;
/** Capitals sprinkled into a word are odd by themselves, so that less is needed beside them. */
const SURPRISE_WITH_CAPITALS = 58;
const MIN_INNER_CAPITALS = 2;
const INNER_CAPITAL = /[a-z][A-Z]/g;

/** Whether a run of Latin letters looks drawn by lot: unusual pairs of letters, or capitals sprinkled in. */
export function isRandomWord(word: string): boolean {
  if (!LETTERS.test(word)) return false;
  const surprise = letterSurprise(word);
  if (surprise >= SURPRISE) return true;
  const capitals = word.match(INNER_CAPITAL)?.length ?? 0;
  return capitals >= MIN_INNER_CAPITALS && surprise >= SURPRISE_WITH_CAPITALS;
}
