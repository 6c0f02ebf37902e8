/**
 * The points of each signal, chosen by hand. docs/spam.md says with which texts they were chosen, and what the filter loses without each
 * signal. If a signal has degrees, their points are side by side.
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
  /**
   * The points for all phrases of pitches together. One phrase is enough if the wording has at least `wording` points; otherwise `turns`
   * phrases are needed.
   */
  pitch: { points: 12, turns: 3, wording: 51 },
  "fill-time": { instant: 30, quick: 15, slow: 5 },
  "user-agent": { none: 15, odd: 20, program: 25 },
  "accept-language": 10,
  /** So few that a visitor without script does not become suspicious by this signal alone. */
  challenge: 20,
  burst: 15,
  honeypot: 80,
  /** Marks a post for review and not more. */
  "honeypot-autofill": 26,
  /** A copy counts only if its score is at least 26; then these points block it. */
  campaign: { copied: 50, marked: 60 },
  /** The largest amounts that marks can teach. */
  lesson: { spam: 25, genuine: -40 },
  "marked-genuine": -60,
  "trusted-sender": -40,
} as const;

/**
 * The log-odds of a text that is neither spam nor genuine, and the points for each log-odd beyond. They were not chosen by the texts that
 * we have: the best values for these are the worst ones for other texts.
 */
export const TEXT_NEUTRAL_ODDS = -1;
export const TEXT_POINTS_PER_ODDS = 16;
/**
 * Phrases of pitches are searched only in texts with at least these log-odds. The words of any other text are clear evidence for its
 * sender.
 */
export const PHRASES_LEAST_ODDS = -3.5;
/** The limits of the points for the words: for the sender, and against. */
export const TEXT_LEAST = -96;
export const TEXT_MOST = 128;

/**
 * The points for the content at which a post becomes suspicious (score 51) and is blocked (score 76). At most 0.3 % and 0.05 % of genuine
 * posts like those of a form reach them. `npm run evaluate:spam` calculates these figures.
 */
export const CONTENT_BOUNDS = { high: 33, blocked: 57 } as const;

/**
 * The largest number of points of each kind of evidence, however many reasons it has. The owner's own rules have no limit. A post is
 * blocked only if at least two kinds give {@link KIND_MINIMUM} points each.
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
  /** The evidence for a sender, besides the text. */
  trust: 60,
} as const;
export const KIND_MINIMUM = 10;
