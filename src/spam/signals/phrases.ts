import type { SpamReason } from "../judge.ts";
import { ADULT, MONEY, OFFER, PITCH_GROUPS, SEARCH, YOUR_SITE } from "../phrases.ts";
import { isPriceProbe } from "../price-probe.ts";
import { LINK_MARK } from "../normalise-text.ts";
import type { ReadPost } from "../read-post.ts";

const PRICE_PROBE_POINTS = 45;
const ATTACK_POINTS = 45;
/** A report about an attack has prose around it; an attack has not. */
const MAX_ATTACK_WORDS = 12;

/**
 * Phrases of pitches, robots and scanners.
 *
 * @param textPoints what the text model gave for the wording.
 */
export function phraseReasons(read: ReadPost, textPoints: number): SpamReason[] {
  const reasons: SpamReason[] = [];
  const reason = (signal: string, points: number, detail: string): void => {
    reasons.push({ signal, points, field: null, detail });
  };
  if (isPriceProbe(read.body))
    reason("price-probe", PRICE_PROBE_POINTS, "asks for a price and for nothing else");
  const attack = read.wordCount <= MAX_ATTACK_WORDS ? ATTACK.exec(read.body) : null;
  if (attack !== null) {
    reason("attack", ATTACK_POINTS, `looks like an attack: ${attack[0].slice(0, 40)}`);
  }
  // Turns of a pitch mean nothing in a text that is worded like anything but one, as most are.
  if (textPoints > 0) reasons.push(...pitchReasons(read.normalised));
  return reasons;
}

function pitchReasons(text: string): SpamReason[] {
  const reasons: SpamReason[] = [];
  const reason = (signal: string, points: number, detail: string): void => {
    reasons.push({ signal, points, field: null, detail });
  };
  const linked = text.includes(LINK_MARK);
  const search = found(text, SEARCH);
  const yours = YOUR_SITE.test(text);
  if (search.length >= 2 || (search.length === 1 && yours)) {
    reason("seo-pitch", search.length >= 2 && yours ? 22 : 10, search.slice(0, 3).join(", "));
  }
  const adult = found(text, ADULT);
  if (adult[0] !== undefined && linked) reason("adult-link", 22, `${adult[0]}, with a link`);
  const money = found(text, MONEY);
  if (money.length >= 2 && linked) reason("money-link", 15, `${money.slice(0, 3).join(", ")}, with a link`);
  const offers = found(text, OFFER);
  if (offers.length >= 2 && linked) reason("offer-link", 12, `${offers.slice(0, 3).join(", ")}, with a link`);
  const pitch = PITCH_GROUPS.flatMap((group) => group.exec(text)?.[0] ?? []);
  if (pitch.length >= 2) reason("pitch", Math.min(30, 10 * (pitch.length - 1)), pitch.slice(0, 4).join(", "));
  return reasons;
}

const ATTACK =
  /\/etc\/passwd|<script\b|<img[^>]{1,40}onerror|union\s{1,3}(?:all\s{1,3})?select|\bsleep\(\d|\$\{jndi:|\.\.\/\.\.\/|' ?or ?'?1'? ?= ?'?1|waitfor delay|win\.ini|\{\{\d{1,5}\*\d|pg_sleep|extractvalue\(|bxss\.me|nslookup |\bcmd=|<!--#|xp_cmdshell|response\.write\(|\bprint\(md5\(/i;

/** The different phrases that occur. */
function found(text: string, phrases: Readonly<RegExp>): string[] {
  return [...new Set(text.match(phrases))];
}
