import { randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";

/** A key or token that is written correctly; whether it exists is another question. */
export interface SecretText {
  /** The 12 characters behind the prefix, by which it is looked up. */
  readonly lookup: string;
  /** All of it. Never stored, logged or shown again. */
  readonly text: string;
}

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const PREFIX_LENGTH = 4;
const LOOKUP_LENGTH = 12;
/** 32 characters of 62 are 190.5 bits. */
const RANDOM_LENGTH = 32;
const CHECKSUM_LENGTH = 6;
const CHECKED_LENGTH = PREFIX_LENGTH + LOOKUP_LENGTH + RANDOM_LENGTH;

/** @param prefix of 4 characters. It is followed by 12 to be looked up by, 32 random ones (190 bits), and 6 of checksum. */
export function makeSecretText(prefix: string): SecretText {
  const lookup = randomBase62(LOOKUP_LENGTH);
  const body = `${prefix}${lookup}${randomBase62(RANDOM_LENGTH)}`;
  return { lookup, text: `${body}${checksum(body)}` };
}

/** Null for anything that no correct program can have made; what is mistyped stops here, before any look-up. */
export function readSecretText(prefix: string, text: string): SecretText | null {
  if (text.length !== CHECKED_LENGTH + CHECKSUM_LENGTH || !text.startsWith(prefix)) return null;
  if (!/^[0-9A-Za-z]+$/.test(text.slice(PREFIX_LENGTH))) return null;
  // The checksum is no secret: comparing it needs no constant time.
  if (checksum(text.slice(0, CHECKED_LENGTH)) !== text.slice(CHECKED_LENGTH)) return null;
  return { lookup: text.slice(PREFIX_LENGTH, PREFIX_LENGTH + LOOKUP_LENGTH), text };
}

/** Whether the text is of the form of the 12 characters that name a key or token. */
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
      // 248 is the largest multiple of 62 in a byte: values above it would favour the first letters.
      if (byte < 248) text += BASE62.charAt(byte % 62);
    }
  }
  return text;
}
