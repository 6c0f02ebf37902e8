import { CLASS_SCORES, type SpamReason } from "../spam-verdict.ts";
import { MAX_SHIFT } from "../lesson.ts";
import { POINTS } from "../points.ts";
import type { SpamHistory } from "../spam-history.ts";

const BURST_POSTS = 10;
const BURST_ENDPOINTS = 5;

/** Many posts from the same network within minutes, or posts to many forms. */
export function burstReasons({ burst }: SpamHistory): SpamReason[] {
  if (burst.posts < BURST_POSTS && burst.endpoints < BURST_ENDPOINTS) return [];
  const forms = burst.endpoints === 1 ? "one form" : `${burst.endpoints} forms`;
  const detail = `${burst.posts} posts to ${forms} from one network in ten minutes`;
  return [{ signal: "burst", points: POINTS.burst, field: null, detail }];
}

/** The evidence against a post without its history. */
export interface Suspicion {
  readonly score: number;
  /** Whether the post has a link, or a rule found something. */
  readonly isOdd: boolean;
}

/** The number of other senders that makes a campaign if their suspicious posts lead to the same target as this suspicious post. */
const TARGET_SENDERS = 2;

/**
 * Evidence that the same text or target came from other senders before. Genuine posts repeat too: answers to a template, a letter to many.
 * So copies only confirm a suspicion: the smaller it is, the more other senders are needed.
 */
export function campaignReasons(history: SpamHistory, suspect: () => Suspicion): SpamReason[] {
  const reason = (points: number, detail: string): SpamReason[] => [
    { signal: "campaign", points, field: null, detail },
  ];
  const { copied, marked } = POINTS.campaign;
  const { copies, variantSenders, targetSenders } = history;
  if (copies.markedSpam > copies.markedHam) return reason(marked, "the same text was marked as spam");
  if (copies.markedHam > 0 || (variantSenders === 0 && targetSenders < TARGET_SENDERS)) return [];
  const suspicion = suspect();
  const isSuspicious = suspicion.score >= CLASS_SCORES.high[0];
  const senders = isSuspicious ? variantSenders : copies.otherSenders;
  if (senders > 0 && senders >= sendersNeeded(suspicion)) {
    const others = senders === 1 ? "another sender" : `${senders} other senders`;
    return reason(copied, `the same text came from ${others}`);
  }
  return isSuspicious && targetSenders >= TARGET_SENDERS
    ? reason(copied, `other texts of ${targetSenders} other senders lead to the same place`)
    : [];
}

/** From this score on the wording of a text alone counts as much as something odd about a suspicious text. */
const PLAIN_PITCH_SCORE = 70;

/**
 * The number of other senders that makes a campaign. The less suspicious a post is, the more are needed; a post with a low score is never
 * part of one.
 */
function sendersNeeded({ score, isOdd }: Suspicion): number {
  if (score < CLASS_SCORES.medium[0]) return Infinity;
  if (score < CLASS_SCORES.high[0]) return isOdd ? 2 : Infinity;
  return isOdd || score >= PLAIN_PITCH_SCORE ? 1 : 2;
}

/** A smaller shift is too uncertain to count. */
const MIN_SHIFT = 0.3;

/** Evidence that the owner's marks taught about the words. */
export function lessonReasons({ shift }: SpamHistory): SpamReason[] {
  if (Math.abs(shift) < MIN_SHIFT) return [];
  const points = Math.round((shift / MAX_SHIFT) * (shift > 0 ? POINTS.lesson.spam : -POINTS.lesson.genuine));
  const detail = `worded like what was marked as ${shift > 0 ? "spam" : "genuine"}`;
  return [{ signal: "lesson", points, field: null, detail }];
}

/** Evidence for the sender, because the owner marked this text or this sender as genuine. */
export function trustReasons({ copies, trustedSender }: SpamHistory): SpamReason[] {
  const reasons: SpamReason[] = [];
  if (copies.markedHam > 0 && copies.markedHam >= copies.markedSpam) {
    reasons.push({
      signal: "marked-genuine",
      points: POINTS["marked-genuine"],
      field: null,
      detail: "the same text was marked as genuine",
    });
  }
  if (trustedSender) {
    reasons.push({
      signal: "trusted-sender",
      points: POINTS["trusted-sender"],
      field: null,
      detail: "a post from this e-mail address was marked as genuine",
    });
  }
  return reasons;
}
