import { compileNetworks, type NetworkList } from "../../foundation/ip-address.ts";
import { compilePattern, type Pattern } from "../../foundation/pattern.ts";
import { UNSPACED } from "../characters.ts";
import { hostAbove } from "../known-hosts.ts";
import type { SpamReason } from "../spam-verdict.ts";
import type { ReadPost, TextField } from "../read-post.ts";
import type { SpamSenders, SpamSettings } from "../spam-settings.ts";

/** The result of the owner's own lists and rules for a post. */
export interface OwnerVerdict {
  readonly reasons: readonly SpamReason[];
  /** The list entry or rule that allows the post, whatever other evidence there is; null if none does. */
  readonly allowedBy: string | null;
  /** The list entry or rule that blocks the post; null if none does. If a post is also allowed, it passes. */
  readonly blockedBy: string | null;
}

/**
 * The largest number of characters of a post that one rule searches. Together with the limit on the size of all rules this bounds their
 * time.
 */
const MAX_RULE_TEXT = 3000;
/**
 * The largest number of characters that are searched for keywords. It is needed because compatibility forms can become many times longer.
 */
const MAX_KEYWORD_TEXT = 20_000;

export function ownerVerdict(read: ReadPost, settings: SpamSettings): OwnerVerdict {
  const compiled = compile(settings);
  const reasons: SpamReason[] = [];
  let allowedBy = matchSenders(read, compiled.allow);
  const denied = matchSenders(read, compiled.deny);
  let blockedBy = denied === null ? null : `on the deny list: ${denied}`;
  const words = compiled.keywords.length === 0 ? "" : spacedWords(read);
  for (const { word, needle, effect } of compiled.keywords) {
    if (!words.includes(needle)) continue;
    if (effect === "block") blockedBy ??= `keyword: ${word}`;
    else if (effect !== 0)
      reasons.push({ signal: "keyword", points: effect, field: null, detail: `keyword: ${word}` });
  }
  for (const { field, source, pattern, effect } of compiled.rules) {
    const hit = searchTexts(read, field, pattern);
    if (hit === undefined) continue;
    const detail = `rule: ${source}`;
    if (effect === "block") blockedBy ??= detail;
    else if (effect === "allow") allowedBy ??= detail;
    else if (effect !== 0) reasons.push({ signal: "rule", points: effect, field: hit.name, detail });
  }
  return { reasons, allowedBy, blockedBy };
}

/** The first text that contains the pattern, in the named field or in any. */
function searchTexts(read: ReadPost, field: string | null, pattern: Pattern): TextField | undefined {
  let room = MAX_RULE_TEXT;
  return read.texts.find(({ name, text }) => {
    if (room <= 0 || (field !== null && name !== field)) return false;
    const searched = text.slice(0, room);
    room -= searched.length;
    return pattern.matches(searched);
  });
}

interface CompiledSenders {
  readonly networks: NetworkList;
  readonly emails: ReadonlySet<string>;
  readonly domains: ReadonlySet<string>;
}

interface Compiled {
  readonly allow: CompiledSenders;
  readonly deny: CompiledSenders;
  readonly keywords: readonly { word: string; needle: string; effect: number | "block" }[];
  readonly rules: readonly {
    field: string | null;
    source: string;
    pattern: Pattern;
    effect: number | "block" | "allow";
  }[];
}

/** Many posts share the same settings, so each settings object is compiled once. */
const cache = new WeakMap<SpamSettings, Compiled>();

function compile(settings: SpamSettings): Compiled {
  let compiled = cache.get(settings);
  if (compiled === undefined) {
    compiled = {
      allow: compileSenders(settings.allow),
      deny: compileSenders(settings.deny),
      keywords: settings.keywords.map(({ word, effect }) => ({ word, needle: needleOf(word), effect })),
      rules: settings.rules.flatMap(({ field, pattern: source, effect }) => {
        const pattern = compilePattern(`(?i)${source}`);
        return typeof pattern === "string" ? [] : [{ field, source, pattern, effect }];
      }),
    };
    cache.set(settings, compiled);
  }
  return compiled;
}

function compileSenders({ addresses, emails, domains }: SpamSenders): CompiledSenders {
  return { networks: compileNetworks(addresses), emails: new Set(emails), domains: new Set(domains) };
}

/** The list entry that matches the sender's IP address, an e-mail address or a link of the post; null if there is none. */
function matchSenders(read: ReadPost, senders: CompiledSenders): string | null {
  const address = read.post.client?.ipAddress;
  if (address !== undefined && senders.networks.contains(address)) return address;
  const hosts = senders.domains.size === 0 ? [] : read.links.map((link) => link.host);
  if (senders.emails.size > 0 || senders.domains.size > 0) {
    for (const { role, text } of read.texts) {
      if (role !== "email") continue;
      const email = text.toLowerCase();
      if (senders.emails.has(email)) return email;
      hosts.push(email.slice(email.lastIndexOf("@") + 1));
    }
  }
  return hosts.map((host) => hostAbove(host, senders.domains)).find((domain) => domain !== null) ?? null;
}

function spacedWords(read: ReadPost): string {
  return ` ${plainWords(read.texts.map(({ text }) => text).join("\n"))} `;
}

/** The text to search for. Words of scripts without spaces are found anywhere, others only as whole words. */
function needleOf(word: string): string {
  return UNSPACED.test(word) ? plainWords(word) : ` ${plainWords(word)} `;
}

function plainWords(text: string): string {
  return text
    .normalize("NFKC")
    .slice(0, MAX_KEYWORD_TEXT)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}]+/gu, " ")
    .trim();
}
