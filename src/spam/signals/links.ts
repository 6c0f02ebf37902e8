import {
  CHEAP_TOP_LEVEL,
  FREE_HOSTS,
  isHostBelow,
  MESSENGER_HOSTS,
  REDIRECTORS,
  SHORTENERS,
  WELL_KNOWN_HOSTS,
} from "../known-hosts.ts";
import type { Link } from "../links.ts";
import { POINTS } from "../points.ts";
import { findRandomWords } from "../random-word.ts";
import type { ReadPost } from "../read-post.ts";
import type { SpamSettings } from "../spam-settings.ts";
import type { SpamReason } from "../spam-verdict.ts";

/** The number of links that is normal on a form for bug reports. */
const TECHNICAL_MAX_LINKS = 10;
/**
 * With fewer characters than BARE_LENGTH besides its links, a text is little more than a link; with fewer than SHORT_LENGTH it is short.
 */
const BARE_LENGTH = 60;
const SHORT_LENGTH = 160;
/** The largest number of links whose hosts are looked at. If there are more, their number alone gives enough points. */
const MAX_HOSTS = 30;
const MARKUP = /<a\s{1,5}href\s?=\s?["']?(?:https?:)?\/\/|\[(?:url|link)(?:=|\]\s?(?:https?:|www\.))/i;

/** A text whose wording has at least this number of points is a pitch that was written for its link. */
const PITCH_TEXT_POINTS = 50;

/**
 * Signals of links: their number, their targets, and how they are written.
 *
 * @param textPoints the points of the text model for the wording.
 */
export function linkReasons(read: ReadPost, settings: SpamSettings, textPoints: number): SpamReason[] {
  const found = [
    ...markupReasons(read),
    ...countReasons(read, settings),
    ...hostReasons(read.links.slice(0, MAX_HOSTS)),
  ];
  const [first] = read.links;
  if (first !== undefined) found.push(...positionReasons(read));
  if (first !== undefined && textPoints >= PITCH_TEXT_POINTS)
    found.push(reason("link-pitch", POINTS["link-pitch"], `where a pitch leads: ${first.shown}`));
  if (!settings.technical) return found;
  return found.map(({ signal, points, detail }) => reason(signal, Math.trunc(points / 2), detail));
}

function reason(signal: string, points: number, detail: string): SpamReason {
  return { signal, points, field: null, detail };
}

function markupReasons({ body }: ReadPost): SpamReason[] {
  if (!MARKUP.test(body)) return [];
  return [reason("link-markup", POINTS["link-markup"], "a link written as HTML or BBCode")];
}

function countReasons({ links }: ReadPost, { technical, maxLinks }: SpamSettings): SpamReason[] {
  const most = technical ? Math.max(maxLinks, TECHNICAL_MAX_LINKS) : maxLinks;
  if (links.length <= most) return [];
  return [reason("links-many", POINTS["links-many"], `${links.length} links, ${most} allowed`)];
}

/** Returns one reason for each suspicious kind of target, with the first link of that kind. */
function hostReasons(links: readonly Link[]): SpamReason[] {
  if (links.length === 0) return [];
  const found = HOST_SIGNALS.flatMap(({ signal, detail, holds }) => {
    const link = links.find(holds);
    return link === undefined ? [] : [reason(signal, POINTS[signal], `${detail}: ${link.shown}`)];
  });
  if (found.length === 0 && links.every(({ host }) => isHostBelow(host, WELL_KNOWN_HOSTS))) {
    found.push(reason("link-known", POINTS["link-known"], "leads to well-known sites only"));
  }
  return found;
}

const HOST_SIGNALS = [
  {
    signal: "link-shortener",
    detail: "hides where it leads",
    holds: ({ host }: Link) => SHORTENERS.has(host),
  },
  { signal: "link-redirector", detail: "leads on to somewhere else", holds: isRedirector },
  {
    signal: "link-messenger",
    detail: "asks to go on in a messenger",
    holds: ({ host }: Link) => isHostBelow(host, MESSENGER_HOSTS),
  },
  {
    signal: "link-free-host",
    detail: "a page on a host that costs nothing",
    holds: ({ host }: Link) => isHostBelow(host, FREE_HOSTS),
  },
  {
    signal: "link-cheap",
    detail: "a domain ending that spammers favour",
    holds: ({ topLevel }: Link) => CHEAP_TOP_LEVEL.has(topLevel),
  },
  { signal: "link-random", detail: "an address drawn by lot", holds: isRandom },
  { signal: "link-digits", detail: "digits in the name of a site", holds: hasDigits },
] as const;

function isRedirector(link: Link): boolean {
  const where = link.shown.toLowerCase();
  return REDIRECTORS.some((part) => where.includes(part));
}

const LABELS = /[^a-z]+/;
/** A code at the end of a path: 5 to 12 letters of both cases and digits, with at least one digit. */
const CODE = /\/(?=[A-Za-z0-9]{5,12}\/?$)(?=[A-Za-z]*\d)(?=.*[a-z])(?=.*[A-Z])[A-Za-z0-9]+\/?$/;

/** Whether a link ends with random letters or a short code. Sites that give every page such an address are left out. */
function isRandom({ host, shown }: Link): boolean {
  if (isHostBelow(host, WELL_KNOWN_HOSTS)) return false;
  return findRandomWords(host.split(LABELS).join(" ")).first !== null || CODE.test(shown);
}

const DIGITS = /[a-z]\d+(?:[a-z.-]|$)|\d[a-z]{3}/;

function hasDigits({ host }: Link): boolean {
  return DIGITS.test(host.slice(0, host.lastIndexOf("."))) && !isHostBelow(host, WELL_KNOWN_HOSTS);
}

/** Signals of the position of links: with little other text, or at the beginning or end of a text. */
function positionReasons({ body, links }: ReadPost): SpamReason[] {
  const beside = links.reduce((rest, link) => rest - link.length, body.length);
  if (beside < BARE_LENGTH) return [reason("link-bare", POINTS["link-bare"], "little more than a link")];
  const found: SpamReason[] = [];
  if (beside < SHORT_LENGTH)
    found.push(reason("link-short", POINTS["link-short"], "a short text beside a link"));
  const [first] = links;
  const last = links.at(-1);
  const isEdge = first?.start === 0 || (last !== undefined && last.start + last.length >= body.length - 1);
  if (isEdge) found.push(reason("link-edge", POINTS["link-edge"], "begins or ends with a link"));
  return found;
}
