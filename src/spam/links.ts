import { isAsciiLetter } from "./characters.ts";

/** A link or bare domain found in a text. */
export interface Link {
  /** The host in lower case, without `www.`. */
  readonly host: string;
  /** The host's last label. */
  readonly topLevel: string;
  /** The link as it was written, cut to {@link MAX_SHOWN} characters. */
  readonly shown: string;
  /** The position and length in the text, in UTF-16 units. */
  readonly start: number;
  readonly length: number;
}

/** The largest number of links of a text that the filter counts. A text with this number exceeds every limit anyway. */
const MAX_LINKS = 100;
const MAX_SHOWN = 60;
const MAX_HOST = 253;

/** Is matched at the beginning of a word with a dot inside. Every part has a bound and no repetition is nested, so the time is linear. */
const CANDIDATE = /(?:https?:\/\/|www\.)?[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){1,6}/giuy;
const TAIL = /[^\s<>"'\])}|]{0,500}/uy;
/** The largest number of characters from the beginning of a link to its first dot that is followed by text. */
const MAX_BEFORE_DOT = 80;

/** Finds links with a scheme or `www.`, and bare domains under a common top-level domain. */
export function findLinks(text: string): Link[] {
  const links: Link[] = [];
  let from = 0;
  let next = 0;
  for (let dot = text.indexOf("."); dot !== -1 && links.length < MAX_LINKS; dot = text.indexOf(".", next)) {
    next = dot + 1;
    if (!isAlphanumeric(text, next)) continue;
    const start = linkStart(text, dot, from);
    CANDIDATE.lastIndex = start;
    const [found] = CANDIDATE.exec(text) ?? [];
    const link = found === undefined ? null : asLink(text, found, start);
    if (link !== null) links.push(link);
    from = link === null ? start + (found?.length ?? 0) : link.start + link.length;
    next = Math.max(next, from);
  }
  return links;
}

/** The beginning of the word around a dot, with its scheme, but not before `from`. */
function linkStart(text: string, dot: number, from: number): number {
  const earliest = Math.max(from, dot - MAX_BEFORE_DOT);
  let start = dot;
  while (start > earliest && HOST_CHARACTER.test(text.charAt(start - 1))) start -= 1;
  const scheme = ["https://", "http://"].find(
    (prefix) => text.slice(Math.max(0, start - prefix.length), start).toLowerCase() === prefix,
  );
  return scheme === undefined || start - scheme.length < from ? start : start - scheme.length;
}

const ALPHANUMERIC = /[\p{L}\p{N}]/uy;

function isAlphanumeric(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  if (code < 128) return isAsciiLetter(code) || (code >= 48 && code <= 57);
  ALPHANUMERIC.lastIndex = at;
  return ALPHANUMERIC.test(text);
}

const HOST_CHARACTER = /[\p{L}\p{N}-]/u;

function asLink(text: string, found: string, start: number): Link | null {
  const lower = found.toLowerCase();
  const explicit = lower.startsWith("http") && lower.includes("://");
  const named = explicit ? lower.slice(lower.indexOf("://") + 3) : lower;
  const host = named.startsWith("www.") ? named.slice(4) : named;
  if (host.length > MAX_HOST || !host.includes(".")) return null;
  const topLevel = host.slice(host.lastIndexOf(".") + 1);
  const before = text[start - 1];
  if (before === "@" || text[start + found.length] === "@") return null;
  const after = text.charAt(start + found.length);
  const known = COMMON_TOP_LEVEL.has(topLevel) && !CODE.test(after) && !isCamelCase(found);
  TAIL.lastIndex = start + found.length;
  const tail = TAIL.exec(text)?.[0] ?? "";
  const hasPath = tail.startsWith("/");
  const isBare = !explicit && named === host;
  const isDomain = known && before !== "/" && before !== "." && (hasPath || !FILE_LIKE.has(topLevel));
  if (isBare && !isDomain) return null;
  const hasTail = hasPath || tail.startsWith("?") || tail.startsWith(":");
  const length = found.length + (hasTail ? tail.length : 0);
  return {
    host,
    topLevel,
    shown: text.slice(start, start + Math.min(length, MAX_SHOWN)),
    start,
    length,
  };
}

/**
 * Whether a name is written like code, such as `sync.Map` and `this.setState`. Domains are written in lower case or, rarely, in capitals.
 */
function isCamelCase(found: string): boolean {
  return found !== found.toLowerCase() && found !== found.toUpperCase() && /\.[a-z]{0,20}[A-Z]/.test(found);
}

/** Top-level domains that are also extensions of file names or members in code: a bare `build.sh` or `user.id` is not a link. */
const FILE_LIKE = new Set(
  "sh py rs pl so md ps cc st id name is to in do page link show one best plus art video photo music group center".split(
    " ",
  ),
);
/** Characters that may follow a name in code, but not a domain. */
const CODE = /[([=_]/;

const COMMON_TOP_LEVEL = new Set(
  `com net org info biz edu gov int io co me tv cc ai app dev xyz top club site online store shop tech space website live
  life world today news blog cloud digital agency media design studio email work works group team services solutions
  company business finance money credit loan loans bet casino poker games game fun vip win bid trade date party review
  stream download racing science click link icu buzz cyou sbs rest bond quest monster cfd pw tk ml ga cf gq su ly gl gd gg
  to is mobi pro name asia eu ru ua by kz uk us ca au nz ie de at ch fr be nl lu es pt it gr cy mt pl cz sk hu ro bg
  rs hr si ba mk al lt lv ee fi se no dk tr il ae sa qa kw ir iq eg ma dz tn ng ke za gh tz ug et in pk bd lk np cn hk
  tw jp kr sg my th vn ph id br mx ar cl pe uy py ve ec bo cr pa do cu pr gt am ge az md sh so st ws nu fm im la vc ag
  sc page wiki zone network center systems support help health care fit beauty fashion sale deals market marketing
  consulting academy school education social chat dating sexy porn adult xxx sex cam tube video photo pics gallery art
  music band moe ink wtf lol one two guru expert ninja rocks cool best plus uno tokyo london nyc berlin paris moscow
  xn--p1ai рф`.split(/\s+/),
);
