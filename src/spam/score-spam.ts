import { CAPS, CONTENT_BOUNDS, KIND_MINIMUM } from "./points.ts";
import { type ReadPost, readPost } from "./read-post.ts";
import { behaviourReasons } from "./signals/behaviour.ts";
import { disguiseReasons } from "./signals/disguise.ts";
import {
  burstReasons,
  campaignReasons,
  lessonReasons,
  type Suspicion,
  trustReasons,
} from "./signals/history.ts";
import { honeypotReasons } from "./signals/honeypot.ts";
import { identityReasons } from "./signals/identity.ts";
import { linkReasons } from "./signals/links.ts";
import { type OwnerVerdict, ownerVerdict } from "./signals/owner.ts";
import { phraseReasons } from "./signals/phrases.ts";
import { textReasons } from "./signals/text.ts";
import type { SpamHistory } from "./spam-history.ts";
import type { SpamPost } from "./spam-post.ts";
import type { SpamSettings } from "./spam-settings.ts";
import { CLASS_SCORES, spamClassOf, type SpamReason, type SpamVerdict } from "./spam-verdict.ts";

/** All evidence about a post, by kind. */
export interface Evidence {
  /** The evidence of the words, for the sender or against. */
  readonly text: readonly SpamReason[];
  readonly links: readonly SpamReason[];
  readonly disguise: readonly SpamReason[];
  readonly identity: readonly SpamReason[];
  readonly phrases: readonly SpamReason[];
  readonly behaviour: readonly SpamReason[];
  readonly honeypot: readonly SpamReason[];
  readonly campaign: readonly SpamReason[];
  readonly lesson: readonly SpamReason[];
  readonly trust: readonly SpamReason[];
  readonly owner: OwnerVerdict;
}

/**
 * The version of the filter, raised with every change of weights or points. It is stored with each score, so that an old score keeps its
 * meaning.
 */
export const FILTER_VERSION = 5;

const [HIGH_FROM] = CLASS_SCORES.high;
const [BLOCKED_FROM, MAX_SCORE] = CLASS_SCORES.blocked;

/** Scores a post: how likely it is spam, and why. The function is pure: the same arguments give the same verdict. */
export function scoreSpam(post: SpamPost, settings: SpamSettings, history: SpamHistory): SpamVerdict {
  return weigh(gatherEvidence(readPost(post), settings, history));
}

export function gatherEvidence(read: ReadPost, settings: SpamSettings, history: SpamHistory): Evidence {
  const text = textReasons(read);
  const wording = text[0]?.points ?? 0;
  const found = {
    text,
    links: linkReasons(read, settings, wording),
    disguise: disguiseReasons(read),
    identity: identityReasons(read),
    phrases: phraseReasons(read, wording),
  };
  const lesson = lessonReasons(history);
  return {
    ...found,
    behaviour: [...behaviourReasons(read), ...burstReasons(history)],
    honeypot: honeypotReasons(read),
    campaign: campaignReasons(history, () => suspicionOf(read, found)),
    lesson: lesson.filter(speaksAgainst),
    trust: [...trustReasons(history), ...lesson.filter(speaksFor)],
    owner: ownerVerdict(read, settings),
  };
}

/** The suspicion that the content alone raises. */
function suspicionOf({ links }: ReadPost, found: Content): Suspicion {
  const sum = new Sum();
  addContent(sum, found);
  return {
    score: sum.score,
    isOdd: links.length > 0 || RULES.some((kind) => found[kind].some(speaksAgainst)),
  };
}

const RULES = ["links", "disguise", "identity", "phrases"] as const;
const CIRCUMSTANCES = ["behaviour", "honeypot", "campaign", "lesson"] as const;
/** The evidence in the content of a post. */
type Content = Pick<Evidence, "text" | (typeof RULES)[number]>;

/**
 * Adds all evidence to one sum. The content comes first. In it the words may also count for the sender, but only down to 0, so that no
 * wording outweighs a honeypot or the owner's rules. Other evidence for the sender comes last.
 */
export function weigh(evidence: Evidence): SpamVerdict {
  const { owner } = evidence;
  const sum = new Sum();
  addContent(sum, evidence);
  for (const kind of CIRCUMSTANCES) sum.addKind(evidence[kind], CAPS[kind]);
  sum.addKind(owner.reasons.filter(speaksAgainst));
  const trapped = evidence.honeypot.some(({ signal }) => signal === "honeypot");
  if (sum.score > MAX_SCORE) sum.adjust("cap", MAX_SCORE, "the score ends at 100");
  sum.subtract(owner.reasons.filter(speaksFor), Infinity);
  if (!trapped) sum.subtract(evidence.trust, CAPS.trust);
  if (sum.score >= BLOCKED_FROM && sum.kinds < 2 && !trapped) {
    sum.adjust("one-kind", BLOCKED_FROM - 1, "one kind of evidence never blocks");
  }
  if (owner.allowedBy !== null) sum.adjust("allowed", 0, `let through by ${owner.allowedBy}`);
  else if (owner.blockedBy !== null) sum.adjust("denied", MAX_SCORE, owner.blockedBy);
  if (sum.score < 0) sum.adjust("floor", 0, "the score begins at 0");
  return { score: sum.score, spamClass: spamClassOf(sum.score), reasons: sum.reasons };
}

function addContent(sum: Sum, evidence: Content): void {
  addPoints(sum, evidence);
  sum.adjust("scale", scoreOf(sum.score), `${sum.score} points for what was written, on the scale of scores`);
}

/** The points for the content, before they are converted to the scale of scores. */
export function contentPoints(evidence: Content): number {
  const sum = new Sum();
  addPoints(sum, evidence);
  return sum.score;
}

/**
 * Converts points to a score by straight lines: from 0 to the bound of suspicious posts, from there to that of blocked posts, and beyond.
 */
function scoreOf(points: number): number {
  const { high, blocked } = CONTENT_BOUNDS;
  if (points <= high) return Math.floor((points * HIGH_FROM) / high);
  return HIGH_FROM + Math.floor(((points - high) * (BLOCKED_FROM - HIGH_FROM)) / (blocked - high));
}

function addPoints(sum: Sum, evidence: Content): void {
  for (const kind of RULES) sum.addKind(evidence[kind].filter(speaksAgainst), CAPS[kind]);
  sum.addKind(evidence.text.filter(speaksAgainst));
  if (sum.score > 0) sum.subtract([...evidence.text, ...evidence.links].filter(speaksFor), sum.score);
}

function speaksFor({ points }: SpamReason): boolean {
  return points < 0;
}

function speaksAgainst({ points }: SpamReason): boolean {
  return points > 0;
}

/** Reasons and the sum of their points. */
class Sum {
  readonly reasons: SpamReason[] = [];
  score = 0;
  /** The number of kinds of evidence that gave at least {@link KIND_MINIMUM} points. */
  kinds = 0;

  /** Adds the reasons of one kind of evidence, the heaviest first. Points above the cap are cut off. */
  addKind(found: readonly SpamReason[], cap = Infinity): void {
    if (found.length === 0) return;
    const before = this.score;
    for (const reason of cutToCap(found, cap)) this.#add(reason);
    if (this.score - before >= KIND_MINIMUM) this.kinds += 1;
  }

  /** Adds reasons that speak for the sender, up to a cap. */
  subtract(found: readonly SpamReason[], cap: number): void {
    for (const reason of cutToCap(found, cap)) this.#add(reason);
  }

  /** Sets the score, by a reason with the missing points. */
  adjust(signal: string, score: number, detail: string): void {
    if (score !== this.score) this.#add({ signal, points: score - this.score, field: null, detail });
  }

  #add(reason: SpamReason): void {
    this.reasons.push(reason);
    this.score += reason.points;
  }
}

/**
 * Sorts reasons by weight, the heaviest first, and cuts them so that together they stay within the cap. All must speak for the same side.
 */
function cutToCap(reasons: readonly SpamReason[], cap: number): readonly SpamReason[] {
  if (reasons.length === 0) return reasons;
  let left = cap;
  const kept: SpamReason[] = [];
  for (const reason of reasons.toSorted((a, b) => Math.abs(b.points) - Math.abs(a.points))) {
    const weight = Math.min(Math.abs(reason.points), left);
    if (weight > 0) kept.push({ ...reason, points: Math.sign(reason.points) * weight });
    left -= weight;
  }
  return kept;
}
