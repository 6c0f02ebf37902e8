import type { SpamReason } from "../spam-verdict.ts";
import { ADULT, MONEY, OFFER, SEARCH, YOUR_SITE } from "../subject-patterns.ts";
import { isPriceProbe } from "../price-probe.ts";
import { LINK_MARK } from "../normalise-text.ts";
import { PHRASES_LEAST_ODDS, POINTS } from "../points.ts";
import type { ReadPost } from "../read-post.ts";
import { findPhrases } from "../phrases/find-phrases.ts";

/** The largest number of characters that are searched. It is needed because compatibility forms can become many times longer. */
const MAX_SEARCHED = 6000;
/** An attack has at most this number of words. A report about an attack has more words around it. */
const MAX_ATTACK_WORDS = 12;

/** Signals of the phrases of pitches, robots and scanners. */
export function phraseReasons(read: ReadPost, wording: number): SpamReason[] {
  const reasons: SpamReason[] = [];
  const reason = (signal: string, points: number, detail: string): void => {
    reasons.push({ signal, points, field: null, detail });
  };
  if (isPriceProbe(read.body))
    reason("price-probe", POINTS["price-probe"], "asks for a price and for nothing else");
  const attack = read.wordCount <= MAX_ATTACK_WORDS ? ATTACK.exec(read.body) : null;
  if (attack !== null) {
    reason("attack", POINTS.attack, `looks like an attack: ${attack[0].slice(0, 40)}`);
  }
  return read.odds < PHRASES_LEAST_ODDS
    ? reasons
    : reasons.concat(pitchReasons(read.normalised.slice(0, MAX_SEARCHED), wording));
}

function pitchReasons(text: string, wording: number): SpamReason[] {
  const reasons: SpamReason[] = [];
  const reason = (signal: string, points: number, detail: string): void => {
    reasons.push({ signal, points, field: null, detail });
  };
  const linked = text.includes(LINK_MARK);
  const search = found(text, SEARCH);
  const yours = YOUR_SITE.test(text);
  if (search.length >= 2 || (search.length === 1 && yours)) {
    const { some, full } = POINTS["seo-pitch"];
    reason("seo-pitch", search.length >= 2 && yours ? full : some, search.slice(0, 3).join(", "));
  }
  const adult = found(text, ADULT);
  if (adult[0] !== undefined && linked)
    reason("adult-link", POINTS["adult-link"], `${adult[0]}, with a link`);
  const money = found(text, MONEY);
  if (money.length >= 2 && linked)
    reason("money-link", POINTS["money-link"], `${money.slice(0, 3).join(", ")}, with a link`);
  const offers = found(text, OFFER);
  if (offers.length >= 2 && linked)
    reason("offer-link", POINTS["offer-link"], `${offers.slice(0, 3).join(", ")}, with a link`);
  const phrases = [...findPhrases(text).values()];
  const { pitch } = POINTS;
  if (phrases.length >= (wording >= pitch.wording ? 1 : pitch.turns))
    reason("pitch", pitch.points, phrases.slice(0, 4).join(", "));
  return reasons;
}

const ATTACK =
  /\/etc\/passwd|<script\b|<img[^>]{1,40}onerror|union\s{1,3}(?:all\s{1,3})?select|\bsleep\(\d|\$\{jndi:|\.\.\/\.\.\/|' ?or ?'?1'? ?= ?'?1|waitfor delay|win\.ini|\{\{\d{1,5}\*\d|pg_sleep|extractvalue\(|bxss\.me|nslookup |\bcmd=|<!--#|xp_cmdshell|response\.write\(|\bprint\(md5\(/i;

/** The different phrases that occur in the text. */
function found(text: string, phrases: Readonly<RegExp>): string[] {
  return [...new Set(text.match(phrases))];
}
