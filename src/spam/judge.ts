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

/** Kinds of evidence. Two of them must each give {@link KIND_MINIMUM} points before a post is blocked. */
type Kind =
  | "text"
  | "links"
  | "disguise"
  | "identity"
  | "phrases"
  | "behaviour"
  | "honeypot"
  | "campaign"
  | "lesson"
  | "owner";

/** No kind of evidence counts for more than this, however many reasons it gives; the owner's own has no cap. */
const CAPS: Readonly<Record<Kind, number>> = {
  text: 68,
  links: 52,
  disguise: 35,
  identity: 25,
  phrases: 45,
  behaviour: 40,
  honeypot: 80,
  campaign: 60,
  lesson: 25,
  owner: Number.MAX_SAFE_INTEGER,
};
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
  const reasons: SpamReason[] = [];
  let kinds = 0;
  for (const [kind, found] of gather(read, settings, history)) {
    const capped = capReasons(found, CAPS[kind]);
    reasons.push(...capped);
    if (total(capped) >= KIND_MINIMUM) kinds += 1;
  }
  reasons.push(...owner.reasons);
  if (total(owner.reasons) >= KIND_MINIMUM) kinds += 1;
  const trapped = reasons.some((reason) => reason.signal === "honeypot");
  if (total(reasons) > MAX_SCORE) {
    reasons.push(adjustment("cap", MAX_SCORE - total(reasons), "the score ends at 100"));
  }
  if (!trapped) reasons.push(...trust(history));
  if (total(reasons) >= BLOCKED_FROM && kinds < 2 && !trapped) {
    reasons.push(
      adjustment("one-kind", BLOCKED_FROM - 1 - total(reasons), "one kind of evidence never blocks"),
    );
  }
  if (owner.allowedBy !== null) {
    reasons.push(adjustment("allowed", -total(reasons), `let through by ${owner.allowedBy}`));
  } else if (owner.blockedBy !== null) {
    reasons.push(adjustment("denied", MAX_SCORE - total(reasons), owner.blockedBy));
  }
  if (total(reasons) < 0) {
    reasons.push(adjustment("floor", -total(reasons), "the score begins at 0"));
  }
  const score = total(reasons);
  return { score, spamClass: spamClassOf(score), reasons: reasons.filter(({ points }) => points !== 0) };
}

/** Whether a post's text has a link. */
export function hasLink(post: SpamPost): boolean {
  return readPost(post).links.length > 0;
}

function gather(read: ReadPost, settings: SpamSettings, history: SpamHistory): [Kind, SpamReason[]][] {
  const text = textReasons(read);
  const content: [Kind, SpamReason[]][] = [
    ["links", linkReasons(read, settings, total(text))],
    ["disguise", disguiseReasons(read)],
    ["identity", identityReasons(read)],
    ["phrases", phraseReasons(read, total(text))],
  ];
  const suspicious = content.some(([, reasons]) => reasons.length > 0) || read.links.length > 0;
  return [
    ["text", text],
    ...content,
    ["behaviour", [...behaviourReasons(read), ...burstReasons(history)]],
    ["honeypot", honeypotReasons(read)],
    ["campaign", campaignReasons(history, read.wordCount, suspicious)],
    ["lesson", lessonReasons(history).filter(({ points }) => points > 0)],
  ];
}

/** What speaks for the sender, the strongest first, cut so that together it stays within its cap. */
function trust(history: SpamHistory): SpamReason[] {
  const found = [...trustReasons(history), ...lessonReasons(history).filter(({ points }) => points < 0)];
  const capped = capReasons(
    found.map((reason) => Object.assign({}, reason, { points: -reason.points })),
    TRUST_CAP,
  );
  return capped.map((reason) => Object.assign({}, reason, { points: -reason.points }));
}

/** The heaviest reasons first, the last one cut so that together they stay within the cap. */
function capReasons(reasons: readonly SpamReason[], cap: number): SpamReason[] {
  let left = cap;
  const kept: SpamReason[] = [];
  for (const reason of [...reasons].sort((a, b) => b.points - a.points)) {
    const points = Math.min(reason.points, left);
    if (points > 0) kept.push({ ...reason, points });
    left -= points;
  }
  return kept;
}

function adjustment(signal: string, points: number, detail: string): SpamReason {
  return { signal, points, field: null, detail };
}

function total(reasons: readonly SpamReason[]): number {
  return reasons.reduce((sum, reason) => sum + reason.points, 0);
}
