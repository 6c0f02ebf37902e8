/**
 * What each signal is worth, chosen by hand: docs/spam.md says by which texts, and what each is worth when it alone is
 * taken out. If a signal has degrees, they are side by side.
 */
export const POINTS = {
  "link-markup": 30,
  "links-many": 20,
  "link-shortener": 22,
  "link-redirector": 22,
  "link-messenger": 12,
  "link-free-host": 10,
  "link-cheap": 15,
  "link-random": 6,
  "link-digits": 6,
  "link-edge": 10,
  "link-bare": 34,
  "link-short": 9,
  "link-pitch": 16,
  "link-known": -8,
  "mixed-script": { once: 14, often: 36 },
  "hidden-characters": 20,
  "fancy-letters": 20,
  "random-text": 60,
  "name-link": 30,
  "name-lines": 30,
  "name-email": 18,
  "name-random": 24,
  "name-tail": 15,
  "disposable-email": 15,
  "same-values": 18,
  "price-probe": 75,
  attack: 75,
  "seo-pitch": { some: 12, full: 26 },
  "adult-link": 26,
  "money-link": 18,
  "offer-link": 14,
  /** For all phrases of pitches together. One is enough if the points for the wording are at least `wording`; else it takes `turns`. */
  pitch: { points: 12, turns: 3, wording: 51 },
  "fill-time": { instant: 30, quick: 15, slow: 5 },
  "user-agent": { none: 15, odd: 20, program: 25 },
  "accept-language": 10,
  /** A visitor without script must not become suspicious by it alone. */
  challenge: 20,
  burst: 15,
  honeypot: 80,
  /** Enough to mark a post for review, not more. */
  "honeypot-autofill": 26,
  /** A copy counts only from a score of 26 on: these points block it. */
  campaign: { copied: 50, marked: 60 },
  /** At the most that marks teach. */
  lesson: { spam: 25, genuine: -40 },
  "marked-genuine": -60,
  "trusted-sender": -40,
} as const;

/**
 * The log-odds of a text that says nothing either way, and the points for each beyond it. Neither was chosen by texts that we
 * see: these ask for a weight that is the worst elsewhere.
 */
export const TEXT_NEUTRAL_ODDS = -1;
export const TEXT_POINTS_PER_ODDS = 16;
/** Phrases of pitches are looked for only in a text with at least these log-odds: the words of any other speak too clearly for its sender. */
export const PHRASES_LEAST_ODDS = -3.5;
/** What the words count for at the most, for the sender and against. */
export const TEXT_LEAST = -96;
export const TEXT_MOST = 128;

/**
 * The points of what was written that make a post suspicious, a score of 51, and that block it, a score of 76: at most 0.3 %
 * and 0.05 % of genuine posts like those of a form reach them. `npm run evaluate:spam` calculates them.
 */
export const CONTENT_BOUNDS = { high: 33, blocked: 57 } as const;

/**
 * No kind of evidence counts for more than this, however many reasons it gives; the owner's own has no cap. Two kinds must
 * each give {@link KIND_MINIMUM} points before a post is blocked.
 */
export const CAPS = {
  links: 60,
  disguise: 75,
  identity: 60,
  phrases: 75,
  behaviour: 40,
  honeypot: 80,
  campaign: 60,
  lesson: 25,
  /** What speaks for a sender beyond the text. */
  trust: 60,
} as const;
export const KIND_MINIMUM = 10;
