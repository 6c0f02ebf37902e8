import { FREE_HOSTS, isHostBelow, MESSENGER_HOSTS, SHORTENERS, WELL_KNOWN_HOSTS } from "./known-hosts.ts";
import { HASH_BEGIN, mix, step } from "./hashing.ts";
import type { Link } from "./links.ts";

/** Links of a post that are remembered: pitches lead to one place. */
const MAX_LINK_KEYS = 2;
/** Keeps these keys apart from those of texts. */
const SALT = "link ";

/** Keys of the places that a text's links lead to, of 52 bits, without those that nearly everybody links to. */
export function linkKeys(links: readonly Link[]): readonly number[] {
  if (links.length === 0) return [];
  const places = new Set(links.map(placeOf).filter((place) => place !== null));
  return [...places].slice(0, MAX_LINK_KEYS).map(keyOf);
}

/** The site, or the whole address on hosts that many share. */
function placeOf({ host, shown }: Link): string | null {
  if (isHostBelow(host, WELL_KNOWN_HOSTS)) return null;
  const isShared =
    SHORTENERS.has(host) || isHostBelow(host, MESSENGER_HOSTS) || isHostBelow(host, FREE_HOSTS);
  return isShared ? shown : host;
}

function keyOf(place: string): number {
  const named = SALT + place;
  let forwards = HASH_BEGIN;
  let backwards = HASH_BEGIN;
  for (let at = 0; at < named.length; at += 1) {
    forwards = step(forwards, named.charCodeAt(at));
    backwards = step(backwards, named.charCodeAt(named.length - 1 - at));
  }
  return (mix(forwards) >>> 12) * 2 ** 32 + mix(backwards);
}
