export interface SpamReason {
  /** A stable name, such as `link-shortener`. */
  readonly signal: string;
  /** The points of the reason, never 0; negative if it speaks for the sender. */
  readonly points: number;
  /** The field in which the reason was found; null if it is not about one field. */
  readonly field: string | null;
  /** A few words for the owner. They may contain text from the submitter. */
  readonly detail: string;
}

export type SpamClass = "low" | "medium" | "high" | "blocked";

export interface SpamVerdict {
  /** An integer from 0 to 100, exactly the sum of the points of all reasons. */
  readonly score: number;
  readonly spamClass: SpamClass;
  readonly reasons: readonly SpamReason[];
}

/** The first and the last score of each class. */
export const CLASS_SCORES: Readonly<Record<SpamClass, readonly [first: number, last: number]>> = {
  low: [0, 25],
  medium: [26, 50],
  high: [51, 75],
  blocked: [76, 100],
};

export function spamClassOf(score: number): SpamClass {
  if (score >= CLASS_SCORES.blocked[0]) return "blocked";
  if (score >= CLASS_SCORES.high[0]) return "high";
  return score >= CLASS_SCORES.medium[0] ? "medium" : "low";
}
