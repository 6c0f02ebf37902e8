import { domainToASCII } from "node:url";

/** Limits of RFC 5321, section 4.5.3.1, in bytes; only ASCII gets this far. */
const MAX_LOCAL_LENGTH = 64;
const MAX_DOMAIN_LENGTH = 255;

/** Words between dots, without quotes: the dot-atom of RFC 5322. */
const LOCAL = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/i;
const DOMAIN = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;
/** Characters with a meaning in a web address, which `domainToASCII` would interpret. */
const NO_DOMAIN = /[\u0000-\u0020/\\?#%@:[\]\u007f]/;

/**
 * One e-mail address that every mail server takes: no name, no quotes, no comment, no list, no address literal. The domain becomes
 * lower case and ASCII (`bücher.example` is `xn--bcher-kva.example`).
 *
 * @returns null for anything else, such as letters outside of ASCII before the at sign, which few servers take.
 */
export function parseMailAddress(text: string): string | null {
  const at = text.lastIndexOf("@");
  const local = text.slice(0, Math.max(at, 0));
  if (local.length > MAX_LOCAL_LENGTH || !LOCAL.test(local)) return null;
  const domain = toAsciiDomain(text.slice(at + 1));
  return domain === null ? null : `${local}@${domain}`;
}

/** The domain of an address that {@link parseMailAddress} returned. */
export function domainOf(address: string): string {
  return address.slice(address.lastIndexOf("@") + 1);
}

function toAsciiDomain(text: string): string | null {
  if (text.length > MAX_DOMAIN_LENGTH || NO_DOMAIN.test(text)) return null;
  const domain = domainToASCII(text);
  // The mapper reads a number as an IPv4 address, and writes it as one.
  const isNumber = /(?:^|\.)\d+$/.test(domain);
  return domain.length <= MAX_DOMAIN_LENGTH && DOMAIN.test(domain) && !isNumber ? domain : null;
}

/**
 * Whether two texts are the same address, apart from the case of ASCII letters. Other letters are never equal: `K` (the sign for kelvin) is
 * no `k`, and `İ` no `i`, although some programs make the small letter of them. Their domains may belong to different people.
 */
export function isSameAddress(one: string, other: string): boolean {
  return inSmallLetters(one) === inSmallLetters(other);
}

function inSmallLetters(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}
