import type { SpamReason } from "../judge.ts";
import type { ReadPost } from "../read-post.ts";

const SEARCH_WORDS =
  /\b(?:seo|backlinks?|domain authority|search rankings?|google rankings?|first page of google|link building|organic traffic|guest posts?|page one)\b/gi;
const YOUR_SITE = /\byour (?:web ?site|site|web ?page|domain|contact form|online presence)\b/i;
const PROBE =
  /\/etc\/passwd|<script\b|union select|\bsleep\(\d|\$\{jndi:|\.\.\/\.\.\/|' or '?1'?='?1|waitfor delay/i;

/** Phrases that pitches and scanners use. */
export function phraseReasons(read: ReadPost): SpamReason[] {
  const reasons: SpamReason[] = [];
  const reason = (signal: string, points: number, detail: string): void => {
    reasons.push({ signal, points, field: null, detail });
  };
  const search = new Set((read.body.match(SEARCH_WORDS) ?? []).map((word) => word.toLowerCase()));
  if (search.size > 0) {
    const pitch = YOUR_SITE.test(read.body);
    reason("seo-pitch", search.size >= 2 && pitch ? 22 : 10, [...search].slice(0, 3).join(", "));
  }
  const probe = PROBE.exec(read.body);
  if (probe !== null) reason("probe", 45, `looks like an attack: ${probe[0].slice(0, 40)}`);
  return reasons;
}
