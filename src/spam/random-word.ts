import { letterSurprise } from "./text-model.ts";

const LETTERS = /^[A-Za-z]{7,40}$/;
/** Words of two dozen languages stay below on their own; keyboard mashing and random strings are above. */
const SURPRISE = 62;
const INNER_CAPITAL = /[a-z][A-Z]/g;

/** Whether a run of Latin letters looks drawn by lot: unusual pairs of letters, or capitals sprinkled in. */
export function isRandomWord(word: string): boolean {
  if (!LETTERS.test(word)) return false;
  const surprise = letterSurprise(word);
  if (surprise >= SURPRISE) return true;
  const capitals = word.match(INNER_CAPITAL)?.length ?? 0;
  return capitals >= 3 && surprise >= SURPRISE - 12;
}
