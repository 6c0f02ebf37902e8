import type { SpamHistory } from "./spam-history.ts";
import type { SpamSettings } from "./spam-settings.ts";
import { readPost, type ReadPost } from "./read-post.ts";
import { behaviourReasons } from "./signals/behaviour.ts";
import { disguiseReasons } from "./signals/disguise.ts";
import { honeypotReasons } from "./signals/honeypot.ts";
import { identityReasons } from "./signals/identity.ts";
import { linkReasons } from "./signals/links.ts";
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

interface SpamClient {
  readonly ipAddress: string;
  readonly userAgent: string | null;
  readonly acceptLanguage: string | null;
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
type Kind = "text" | "links" | "disguise" | "identity" | "phrases" | "behaviour" | "honeypot";

/** No kind of evidence counts for more than this, however many reasons it gives. */
const CAPS: Readonly<Record<Kind, number>> = {
  text: 68,
  links: 30,
  disguise: 35,
  identity: 25,
  phrases: 45,
  behaviour: 40,
  honeypot: 80,
};
const KIND_MINIMUM = 10;
const BLOCKED_FROM = 76;
const MAX_SCORE = 100;

export function spamClassOf(score: number): SpamClass {
  if (score >= BLOCKED_FROM) return "blocked";
  if (score >= 51) return "high";
  return score >= 26 ? "medium" : "low";
}

/** How likely a post is spam, and why. Pure: the same arguments give the same verdict. */
export function judge(post: SpamPost, settings: SpamSettings, _history: SpamHistory): SpamVerdict {
  const read = readPost(post);
  const reasons: SpamReason[] = [];
  let kinds = 0;
  for (const [kind, found] of gather(read, settings)) {
    const capped = capReasons(found, CAPS[kind]);
    reasons.push(...capped);
    if (total(capped) >= KIND_MINIMUM) kinds += 1;
  }
  const decisive = reasons.some((reason) => reason.signal === "honeypot");
  if (total(reasons) >= BLOCKED_FROM && kinds < 2 && !decisive) {
    reasons.push(
      adjustment("one-kind", BLOCKED_FROM - 1 - total(reasons), "one kind of evidence never blocks"),
    );
  }
  if (total(reasons) > MAX_SCORE) {
    reasons.push(adjustment("cap", MAX_SCORE - total(reasons), "the score ends at 100"));
  }
  const score = total(reasons);
  return { score, spamClass: spamClassOf(score), reasons };
}

function gather(read: ReadPost, settings: SpamSettings): [Kind, SpamReason[]][] {
  return [
    ["text", textReasons(read)],
    ["links", linkReasons(read, settings)],
    ["disguise", disguiseReasons(read)],
    ["identity", identityReasons(read)],
    ["phrases", phraseReasons(read)],
    ["behaviour", behaviourReasons(read)],
    ["honeypot", honeypotReasons(read)],
  ];
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
