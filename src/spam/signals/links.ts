import { CHEAP_TOP_LEVEL, REDIRECTORS, SHORTENERS } from "../known-hosts.ts";
import type { SpamReason } from "../judge.ts";
import type { Link } from "../links.ts";
import type { ReadPost } from "../read-post.ts";
import type { SpamSettings } from "../spam-settings.ts";

const MANY_POINTS = 20;
/** Links that are normal on a form for bug reports. */
const TECHNICAL_MAX_LINKS = 10;
/** A text with less than this besides its links is little more than a link. */
const BARE_LENGTH = 60;
const MARKUP = /<a\s{1,5}href\s?=\s?["']?(?:https?:)?\/\/|\[(?:url|link)(?:=|\]\s?(?:https?:|www\.))/i;
const BARE_POINTS = 15;
/** Nothing but a link, and that hides where it leads or costs nothing. */
const BARE_HIDING_POINTS = 35;

/** From so many points for its wording on, a text is a pitch, and its link is what it was written for. */
const PITCH_TEXT_POINTS = 52;

/**
 * What links say: how many there are, where they lead, and how they are written.
 *
 * @param textPoints what the text model gave for the wording.
 */
export function linkReasons(read: ReadPost, settings: SpamSettings, textPoints: number): SpamReason[] {
  const reasons: SpamReason[] = [];
  const reason = (signal: string, points: number, detail: string): void => {
    const counted = settings.technical ? Math.ceil(points / 2) : points;
    reasons.push({ signal, points: counted, field: null, detail });
  };
  if (MARKUP.test(read.body)) reason("link-markup", 25, "a link written as HTML or BBCode");
  const { links } = read;
  const [first] = links;
  if (first === undefined) return reasons;
  const maxLinks = settings.technical ? Math.max(settings.maxLinks, TECHNICAL_MAX_LINKS) : settings.maxLinks;
  if (links.length > maxLinks)
    reason("links-many", MANY_POINTS, `${links.length} links, ${maxLinks} allowed`);
  const short = links.find((link) => SHORTENERS.has(link.host));
  if (short !== undefined) reason("link-shortener", 18, `hides where it leads: ${short.shown}`);
  const redirect = links.find(isRedirector);
  if (redirect !== undefined) reason("link-redirector", 18, `leads on to somewhere else: ${redirect.shown}`);
  const cheap = links.find((link) => CHEAP_TOP_LEVEL.has(link.topLevel));
  if (cheap !== undefined)
    reason("link-cheap", 12, `a domain ending that spammers favour: .${cheap.topLevel}`);
  if (textPoints >= PITCH_TEXT_POINTS) reason("link-pitch", 10, `where a pitch leads: ${first.shown}`);
  if (isBare(read)) {
    const isHiding = short !== undefined || redirect !== undefined || cheap !== undefined;
    reason("link-bare", isHiding ? BARE_HIDING_POINTS : BARE_POINTS, "little more than a link");
  }
  return reasons;
}

function isRedirector(link: Link): boolean {
  const where = link.shown.toLowerCase();
  return REDIRECTORS.some((part) => where.includes(part));
}

function isBare({ body, links }: ReadPost): boolean {
  const linked = links.reduce((sum, link) => sum + link.length, 0);
  return body.length - linked < BARE_LENGTH;
}
