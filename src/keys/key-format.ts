import { randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";

export type KeyKind = "secret" | "publishable";

/**
 * A key that is written correctly; whether it exists is another question.
 * `fsk_` or `fpk_`, 12 characters that it is looked up by, 32 random characters (190 bits), 6 of checksum.
 */
export interface ParsedKey {
  readonly kind: KeyKind;
  readonly lookup: string;
  /** The whole key. Never stored, logged or shown again. */
  readonly text: string;
}

export const KEY_PREFIXES: Readonly<Record<KeyKind, string>> = { secret: "fsk_", publishable: "fpk_" };

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const LOOKUP_LENGTH = 12;
/** 32 characters of 62 are 190.5 bits. */
const RANDOM_LENGTH = 32;
const CHECKSUM_LENGTH = 6;
const KEY_LENGTH = 4 + LOOKUP_LENGTH + RANDOM_LENGTH + CHECKSUM_LENGTH;

export function makeKey(kind: KeyKind): ParsedKey {
  const lookup = randomBase62(LOOKUP_LENGTH);
  const body = `${KEY_PREFIXES[kind]}${lookup}${randomBase62(RANDOM_LENGTH)}`;
  return { kind, lookup, text: `${body}${checksum(body)}` };
}

/** Null for anything that no correct program can have issued; a mistyped key stops here, before any look-up. */
export function parseKey(text: string): ParsedKey | null {
  if (text.length !== KEY_LENGTH) return null;
  const kind = kindOf(text);
  if (kind === null) return null;
  const split = KEY_LENGTH - CHECKSUM_LENGTH;
  // The checksum is no secret: comparing it needs no constant time.
  if (checksum(text.slice(0, split)) !== text.slice(split)) return null;
  return { kind, lookup: text.slice(4, 4 + LOOKUP_LENGTH), text };
}

/** Whether the text is of the form of the 12 characters that name a key. */
export function isLookup(text: string): boolean {
  return /^[0-9A-Za-z]{12}$/.test(text);
}

function kindOf(text: string): KeyKind | null {
  if (!/^f[sp]k_[0-9A-Za-z]+$/.test(text)) return null;
  return text.startsWith(KEY_PREFIXES.secret) ? "secret" : "publishable";
}

function checksum(body: string): string {
  let value = crc32(body);
  let digits = "";
  for (let index = 0; index < CHECKSUM_LENGTH; index += 1) {
    digits = BASE62.charAt(value % 62) + digits;
    value = Math.floor(value / 62);
  }
  return digits;
}

function randomBase62(length: number): string {
  let text = "";
  while (text.length < length) {
    for (const byte of randomBytes(length - text.length)) {
      // 248 is the largest multiple of 62 in a byte: values above it would favour the first letters.
      if (byte < 248) text += BASE62.charAt(byte % 62);
    }
  }
  return text;
}
