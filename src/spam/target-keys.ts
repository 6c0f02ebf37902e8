import { findContacts } from "./contacts.ts";
import { HASH_BEGIN, mix, step } from "./hashing.ts";
import {
  DISPOSABLE_DOMAINS,
  FREE_HOSTS,
  isHostBelow,
  MAIL_HOSTS,
  MESSENGER_HOSTS,
  SHORTENERS,
  WELL_KNOWN_HOSTS,
} from "./known-hosts.ts";
import type { Link } from "./links.ts";
import type { ReadPost } from "./read-post.ts";

/**
 * The largest numbers of targets of a post that are remembered, from its links and from its other contacts. A pitch leads to one target.
 */
const MAX_LINKED = 2;
const MAX_NAMED = 2;
/** Makes these keys different from those of texts. */
const SALT = "link ";

/**
 * The keys of the targets that a post leads to, numbers of 52 bits: the sites of its links and e-mail addresses, mailboxes, names in chats
 * and phone numbers. Sites that nearly everybody links to are left out.
 */
export function targetKeys({
  links,
  body,
  texts,
}: Pick<ReadPost, "links" | "body" | "texts">): readonly number[] {
  const contacts = findContacts(body);
  for (const { role, text } of texts) if (role === "phone") contacts.push(...findContacts(text));
  const linked = targetsOf(links, targetOfLink, MAX_LINKED);
  const named = targetsOf(contacts, targetOfContact, MAX_NAMED).filter((target) => !linked.includes(target));
  return [...linked, ...named].map(keyOf);
}

const NOWHERE: readonly string[] = [];

/** The first different targets, at most `most`. */
function targetsOf<Named>(
  all: readonly Named[],
  targetOf: (one: Named) => string | null,
  most: number,
): readonly string[] {
  if (all.length === 0) return NOWHERE;
  const targets = new Set(all.map(targetOf).filter((target) => target !== null));
  return [...targets].slice(0, most);
}

/**
 * The target of a link: its site, or its whole address on a host that many people share; null for a site that nearly everybody links to.
 */
function targetOfLink({ host, shown }: Link): string | null {
  if (isHostBelow(host, WELL_KNOWN_HOSTS)) return null;
  const isShared =
    SHORTENERS.has(host) || isHostBelow(host, MESSENGER_HOSTS) || isHostBelow(host, FREE_HOSTS);
  return isShared ? shown : host;
}

/**
 * The target of a contact: the site of an e-mail address, or the whole address at a provider of mailboxes. A name or number is a target
 * itself.
 */
function targetOfContact(contact: string): string | null {
  const at = contact.indexOf("@");
  if (at <= 0) return contact;
  const host = contact.slice(at + 1);
  if (isHostBelow(host, MAIL_HOSTS) || DISPOSABLE_DOMAINS.has(host)) return contact;
  return isHostBelow(host, WELL_KNOWN_HOSTS) ? null : host;
}

function keyOf(target: string): number {
  const named = SALT + target;
  let forwards = HASH_BEGIN;
  let backwards = HASH_BEGIN;
  for (let at = 0; at < named.length; at += 1) {
    forwards = step(forwards, named.charCodeAt(at));
    backwards = step(backwards, named.charCodeAt(named.length - 1 - at));
  }
  return (mix(forwards) >>> 12) * 2 ** 32 + mix(backwards);
}
