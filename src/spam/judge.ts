import type { SpamHistory } from "./spam-history.ts";
import type { SpamSettings } from "./spam-settings.ts";
import { readPost, type ReadPost } from "./read-post.ts";
import { behaviourReasons } from "./signals/behaviour.ts";
import { disguiseReasons } from "./signals/disguise.ts";
import { burstReasons, campaignReasons, lessonReasons, trustReasons } from "./signals/history.ts";
import { honeypotReasons } from "./signals/honeypot.ts";
import { identityReasons } from "./signals/identity.ts";
import { linkReasons } from "./signals/links.ts";
import { ownerVerdict } from "./signals/owner.ts";
import { phraseReasons } from "./signals/phrases.ts";
import { textReasons } from "./signals/text.ts";

/** One form post as the judge sees it. */
export interface SpamPost {
  /** The validated data as it would be stored. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Honeypot members of the raw body that were not empty. */
  readonly honeypots: readonly { readonly name: string; readonly value: unknown }[];
  /** `_elapsed_ms`; null when absent or not a number. */
  readonly elapsedMs: number | null;
  /** The submitter's own client; null where a backend with the secret key posted and did not pass it on. */
  readonly client: SpamClient | null;
}

/** Headers are null where the client sent none, undefined where a backend did not say. */
interface SpamClient {
  readonly ipAddress: string;
  readonly userAgent: string | null | undefined;
  readonly acceptLanguage: string | null | undefined;
}

export interface SpamReason {
  /** A stable name, such as `link-shortener`. */
  readonly signal: string;
  /** Never 0; below 0 for what speaks for the sender. */
  readonly points: number;
  /** The field it was found in, where it was found in one. */
  readonly field: string | null;
  /** A few words for the owner; holds text from the submitter. */
  readonly detail: string;
}

export type SpamClass = "low" | "medium" | "high" | "blocked";

export interface SpamVerdict {
  /** An integer from 0 to 100: exactly the sum of the reasons' points. */
  readonly score: number;
  readonly spamClass: SpamClass;
  readonly reasons: readonly SpamReason[];
}

/**
 * No kind of evidence counts for more than this, however many reasons it gives; the owner's own has no cap. Two kinds must
 * each give {@link KIND_MINIMUM} points before a post is blocked.
 */
const CAPS = {
  text: 68,
  links: 52,
  disguise: 35,
  identity: 25,
  phrases: 45,
  behaviour: 40,
  honeypot: 80,
  campaign: 60,
  lesson: 25,
} as const;
/** What speaks for a sender never counts for more than this. */
const TRUST_CAP = 60;
const KIND_MINIMUM = 10;
const BLOCKED_FROM = 76;
const MAX_SCORE = 100;

export function spamClassOf(score: number): SpamClass {
  if (score >= BLOCKED_FROM) return "blocked";
  if (score >= 51) return "high";
  return score >= 26 ? "medium" : "low";
}

/** How likely a post is spam, and why. Pure: the same arguments give the same verdict. */
export function judge(post: SpamPost, settings: SpamSettings, history: SpamHistory): SpamVerdict {
  const read = readPost(post);
  const owner = ownerVerdict(read, settings);
  const sum = new Sum();
  addEvidence(sum, read, settings, history);
  sum.addKind(owner.reasons);
  const trapped = sum.reasons.some(({ signal }) => signal === "honeypot");
  if (sum.score > MAX_SCORE) sum.adjust("cap", MAX_SCORE, "the score ends at 100");
  if (!trapped) sum.addTrust([...trustReasons(history), ...lessonReasons(history).filter(speaksFor)]);
  if (sum.score >= BLOCKED_FROM && sum.kinds < 2 && !trapped) {
    sum.adjust("one-kind", BLOCKED_FROM - 1, "one kind of evidence never blocks");
  }
  if (owner.allowedBy !== null) sum.adjust("allowed", 0, `let through by ${owner.allowedBy}`);
  else if (owner.blockedBy !== null) sum.adjust("denied", MAX_SCORE, owner.blockedBy);
  if (sum.score < 0) sum.adjust("floor", 0, "the score begins at 0");
  return { score: sum.score, spamClass: spamClassOf(sum.score), reasons: sum.reasons };
}

/** Whether a post's text has a link. */
export function hasLink(post: SpamPost): boolean {
  return readPost(post).links.length > 0;
}

function addEvidence(sum: Sum, read: ReadPost, settings: SpamSettings, history: SpamHistory): void {
  sum.addKind(textReasons(read), CAPS.text);
  const textPoints = sum.score;
  sum.addKind(linkReasons(read, settings, textPoints), CAPS.links);
  sum.addKind(disguiseReasons(read), CAPS.disguise);
  sum.addKind(identityReasons(read), CAPS.identity);
  sum.addKind(phraseReasons(read, textPoints), CAPS.phrases);
  const isSuspicious = sum.score > textPoints || read.links.length > 0;
  sum.addKind([...behaviourReasons(read), ...burstReasons(history)], CAPS.behaviour);
  sum.addKind(honeypotReasons(read), CAPS.honeypot);
  sum.addKind(campaignReasons(history, read.wordCount, isSuspicious), CAPS.campaign);
  sum.addKind(
    lessonReasons(history).filter((reason) => !speaksFor(reason)),
    CAPS.lesson,
  );
}

/** Whether a reason speaks for the sender. */
function speaksFor({ points }: SpamReason): boolean {
  return points < 0;
}

/** Reasons, and what they add up to. */
class Sum {
  readonly reasons: SpamReason[] = [];
  score = 0;
  /** Kinds of evidence that gave enough to count. */
  kinds = 0;

  /** What one kind of evidence found; with a cap, the heaviest first and what passes the cap cut off. */
  addKind(found: readonly SpamReason[], cap?: number): void {
    if (found.length === 0) return;
    const before = this.score;
    for (const reason of cap === undefined ? found : cutToCap(found, cap)) this.#add(reason);
    if (this.score - before >= KIND_MINIMUM) this.kinds += 1;
  }

  addTrust(found: readonly SpamReason[]): void {
    for (const reason of cutToCap(found, TRUST_CAP)) this.#add(reason);
  }

  /** Makes the score what it must be. */
  adjust(signal: string, score: number, detail: string): void {
    if (score !== this.score) this.#add({ signal, points: score - this.score, field: null, detail });
  }

  #add(reason: SpamReason): void {
    this.reasons.push(reason);
    this.score += reason.points;
  }
}

/** The heaviest of these reasons first, all on one side, the last one cut so that together they stay within the cap. */
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
