import type { SpamReason } from "../spam-verdict.ts";
import { MAX_SHIFT } from "../lesson.ts";
import { POINTS } from "../points.ts";
import type { SpamHistory } from "../spam-history.ts";

const BURST_POSTS = 10;
const BURST_ENDPOINTS = 5;

/** The same network on many forms or many times within minutes. */
export function burstReasons({ burst }: SpamHistory): SpamReason[] {
  if (burst.posts < BURST_POSTS && burst.endpoints < BURST_ENDPOINTS) return [];
  const detail = `${burst.posts} posts to ${burst.endpoints} forms from one network in ten minutes`;
  return [{ signal: "burst", points: POINTS.burst, field: null, detail }];
}

/** Most words of a text that people who do not know each other may both write. */
const SHORT_WORDS = 20;

/** The same text came before, from others; `isOdd` is whether anything speaks against the post, and its words not for it. */
export function campaignReasons({ copies }: SpamHistory, words: number, isOdd: boolean): SpamReason[] {
  const reason = (points: number, detail: string): SpamReason[] => [
    { signal: "campaign", points, field: null, detail },
  ];
  const { short, once, often, oddOnce, oddOften, marked } = POINTS.campaign;
  if (copies.markedSpam > copies.markedHam) return reason(marked, "the same text was marked as spam");
  if (copies.markedHam > 0 || copies.otherSenders === 0) return [];
  const isOnce = copies.otherSenders === 1;
  const detail = `the same text came from ${isOnce ? "another sender" : `${copies.otherSenders} other senders`}`;
  if (isOdd) return reason(isOnce ? oddOnce : oddOften, detail);
  if (words < SHORT_WORDS) return reason(short, detail);
  return reason(isOnce ? once : often, detail);
}

/** Below this the marks say nothing clear. */
const MIN_SHIFT = 0.3;

/** What the owner's marks taught about the words. */
export function lessonReasons({ shift }: SpamHistory): SpamReason[] {
  if (Math.abs(shift) < MIN_SHIFT) return [];
  const points = Math.round((shift / MAX_SHIFT) * (shift > 0 ? POINTS.lesson.spam : -POINTS.lesson.genuine));
  const detail = `worded like what was marked as ${shift > 0 ? "spam" : "genuine"}`;
  return [{ signal: "lesson", points, field: null, detail }];
}

/** Points from the owner's marks for this sender or text. */
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
