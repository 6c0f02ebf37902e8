import { randomFillSync } from "node:crypto";
import { V7Generator } from "uuidv7";
import { FormsvcError } from "./errors.ts";

/** The kinds of thing that have an id; the prefix says which. */
export type IdPrefix =
  | "acct"
  | "ws"
  | "ep"
  | "key"
  | "tok"
  | "sub"
  | "held"
  | "fil"
  | "wh"
  | "rcpt"
  | "msg"
  | "note"
  | "inv"
  | "ses"
  | "pky"
  | "srv";

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
/** The digits of an id that hold its time: 3 bits in the first, and 5 in each of the nine others. */
const TIME_DIGITS = 10;
const SUFFIX = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/;
/** A clock set back by more than this starts a new series instead of continuing the old one. */
const CLOCK_ROLLBACK_ALLOWANCE_MS = 10_000;

const generator = new V7Generator(createRandomWords());
generator.setRollbackAllowance(CLOCK_ROLLBACK_ALLOWANCE_MS);

/**
 * A new TypeID: prefix, `_`, and the 26 Crockford base32 characters of a UUIDv7 made at `nowMs`. Ids made in one
 * process sort in the order they were made, within a millisecond too.
 */
export function newId(prefix: IdPrefix, nowMs: number): string {
  const uuid = generator.generateOrResetWithTs(nowMs);
  return `${prefix}_${encode(uuid.bytes)}`;
}

/** Random numbers of 32 bits. They are made 1024 at a time, because asking the system for a few takes longer than the rest of an id. */
function createRandomWords() {
  const words = new Uint32Array(1024);
  let used = words.length;
  return {
    nextUint32(): number {
      if (used === words.length) {
        randomFillSync(words);
        used = 0;
      }
      used += 1;
      return words[used - 1] ?? 0;
    },
  };
}

/** The smallest id of its kind that can have been made at `ms`: a bound for searching by time. */
export function firstIdAt(prefix: IdPrefix, ms: number): string {
  const bytes = new Uint8Array(16);
  const time = Math.max(0, Math.min(ms, 2 ** 48 - 1));
  new DataView(bytes.buffer).setUint32(0, Math.floor(time / 65536));
  new DataView(bytes.buffer).setUint16(4, time % 65536);
  return `${prefix}_${encode(bytes)}`;
}

/** An id of the same kind and time as a well-formed one, with the rest from a hash of at least ten bytes. */
export function idWithTimeOf(id: string, hash: Uint8Array): string {
  const bytes = new Uint8Array(16);
  bytes.set(hash.subarray(0, 10), 6);
  // The version and variant of a UUIDv7, as all ids have them.
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x70;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return id.slice(0, id.indexOf("_") + 1 + TIME_DIGITS) + encode(bytes).slice(TIME_DIGITS);
}

/** The time at which a well-formed id was made, in milliseconds since 1970 UTC: the first 48 bits hold it. */
export function timeOfId(id: string): number {
  const digits = id.slice(id.indexOf("_") + 1);
  let time = 0;
  for (let at = 0; at < TIME_DIGITS; at += 1) time = time * 32 + ALPHABET.indexOf(digits.charAt(at));
  return time;
}

/** Whether `text` is a well-formed id of this kind; says nothing about whether the thing exists. */
export function isId(prefix: IdPrefix, text: string): boolean {
  return text.startsWith(`${prefix}_`) && SUFFIX.test(text.slice(prefix.length + 1));
}

/** @throws invalid_request if a page's cursor is not an id of this kind; null stands for the first page. */
export function checkCursor(prefix: IdPrefix, cursor: string | null): void {
  if (cursor === null || isId(prefix, cursor)) return;
  throw new FormsvcError("invalid_request", "the cursor is not one that a page returned", {
    details: { cursor: "malformed" },
  });
}

/** All combinations of two digits, indexed by their ten bits. */
const PAIRS = Array.from(
  { length: 1024 },
  (_, value) => ALPHABET.charAt(value >> 5) + ALPHABET.charAt(value & 31),
);

/** 128 bits as 26 digits of 5 bits, the first holding only 3 (the encoding of TypeID), so the first two digits are the first byte. */
function encode(bytes: Readonly<Uint8Array>): string {
  let text = PAIRS[bytes[0] ?? 0] ?? "";
  let buffer = 0;
  let bits = 0;
  for (let index = 1; index < 16; index += 1) {
    buffer = (buffer << 8) | (bytes[index] ?? 0);
    bits += 8;
    if (bits < 10) continue;
    bits -= 10;
    text += PAIRS[(buffer >> bits) & 1023] ?? "";
  }
  return text;
}
