/** What the phrases of a pitch are for, in the order in which a pitch often has them. */
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
 * Patterns of the phrases of pitches in a language: what somebody who writes to the owner of a form hardly ever says. A comma stands between two. They
 * are in lower case and with their accents; a text without accents has them too. `(a|b|)` is a choice, also within a word and of nothing;
 * `*` is any one word, `#` a number, `$` a sum of money. There are no other signs, and no hyphens.
 */
export type PhrasePatterns = Readonly<Partial<Record<Meaning, string>>>;
