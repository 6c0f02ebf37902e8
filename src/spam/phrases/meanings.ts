/** The purposes of phrases in a pitch, in the usual order. */
export const MEANINGS = [
  "found you",
  "to the owner",
  "we offer",
  "boasts",
  "growth",
  "free",
  "price",
  "asks",
  "acts",
  "chat",
  "stop",
  "easy money",
  "threats",
] as const;

export type Meaning = (typeof MEANINGS)[number];

/**
 * The patterns of phrases in a language that pitches use, and that people who write to the owner of a form hardly ever do. A comma
 * separates two patterns. They are in lower case and with accents; a text without accents matches too. `(a|b|)` is a choice, also inside a
 * word, and also of nothing; `*` is any one word, `#` a number, `$` a sum of money. No other signs are allowed, and no hyphens.
 */
export type PhrasePatterns = Readonly<Partial<Record<Meaning, string>>>;
