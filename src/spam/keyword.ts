import type { SpamChoices } from "./spam-settings.ts";

/** A word or phrase with its effect on the score. */
export type SpamKeyword = NonNullable<SpamChoices["keywords"]>[number];

/** The points of a keyword without an effect of its own. */
const KEYWORD_POINTS = 25;
const MAX_KEYWORD_POINTS = 100;

/** Reads `word`, `word=40` or `word=block`. A word that contains `=` needs an effect after it. Returns null if the effect is not valid. */
export function parseKeyword(text: string): SpamKeyword | null {
  const at = text.lastIndexOf("=");
  if (at === -1) return { word: text, effect: KEYWORD_POINTS };
  const word = text.slice(0, at);
  const effect = text.slice(at + 1).trim();
  if (effect === "block") return { word, effect };
  const points = /^-?\d{1,3}$/.test(effect) ? Number(effect) : Number.NaN;
  return Math.abs(points) <= MAX_KEYWORD_POINTS ? { word, effect: points } : null;
}
