import { randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";

/** A key or token that is written correctly; whether it exists is another question. */
export interface SecretText {
  /** The 12 characters after the prefix, by which it is looked up. */
  readonly lookup: string;
  /** The whole key or token. It is never stored, logged or shown again. */
  readonly text: string;
}

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const PREFIX_LENGTH = 4;
const LOOKUP_LENGTH = 12;
/** 32 random characters of an alphabet of 62 have 190.5 bits. */
const RANDOM_LENGTH = 32;
const CHECKSUM_LENGTH = 6;
const CHECKED_LENGTH = PREFIX_LENGTH + LOOKUP_LENGTH + RANDOM_LENGTH;

/**
 * Makes a key or token: the prefix, 12 characters to look it up by, 32 random ones (190 bits), and 6 of checksum.
 *
 * @param prefix 4 characters
 */
export function makeSecretText(prefix: string): SecretText {
  const lookup = randomBase62(LOOKUP_LENGTH);
  const body = `${prefix}${lookup}${randomBase62(RANDOM_LENGTH)}`;
  return { lookup, text: `${body}${checksum(body)}` };
}

/** Reads a key or token; null for a text that no correct program can have made. So a mistyped one is refused before any look-up. */
export function readSecretText(prefix: string, text: string): SecretText | null {
  if (text.length !== CHECKED_LENGTH + CHECKSUM_LENGTH || !text.startsWith(prefix)) return null;
  if (!/^[0-9A-Za-z]+$/.test(text.slice(PREFIX_LENGTH))) return null;
  // The checksum is no secret: comparing it needs no constant time.
  if (checksum(text.slice(0, CHECKED_LENGTH)) !== text.slice(CHECKED_LENGTH)) return null;
  return { lookup: text.slice(PREFIX_LENGTH, PREFIX_LENGTH + LOOKUP_LENGTH), text };
}

/** Whether the text has the form of the 12 characters by which a key or token is looked up. */
export function isLookup(text: string): boolean {
  return /^[0-9A-Za-z]{12}$/.test(text);
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
      // 248 is the largest multiple of 62 that fits a byte. Larger values are skipped, because they would favour the first letters.
      if (byte < 248) text += BASE62.charAt(byte % 62);
    }
  }
  return text;
}
