import * as fc from "fast-check";
import { expect, test } from "vitest";
import { isLookup } from "../../src/foundation/secret-text.ts";
import { makeKey, parseKey } from "../../src/keys/key-format.ts";

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const DIGITS = BASE62.split("");
const keys = fc.constantFrom("secret", "publishable").map((kind) => makeKey(kind));

test("a key is fsk_ or fpk_, 12 characters to look it up by, 32 random ones and 6 of checksum", () => {
  expect(makeKey("secret").text).toMatch(/^fsk_[0-9A-Za-z]{50}$/);
  expect(makeKey("publishable").text).toMatch(/^fpk_[0-9A-Za-z]{50}$/);
  // 32 of 62 characters are at least the 190 bits that are promised.
  expect(32 * Math.log2(62)).toBeGreaterThan(190);
});

test("every key that is made is read back, with its kind and its 12 characters", () => {
  fc.assert(
    fc.property(keys, (key) => {
      expect(parseKey(key.text)).toEqual(key);
      expect(key.text.slice(4, 16)).toBe(key.lookup);
      expect(isLookup(key.lookup)).toBe(true);
    }),
  );
});

test("no two keys share their 12 characters or their random part", () => {
  const made = Array.from({ length: 5000 }, () => makeKey("secret"));
  expect(new Set(made.map(({ lookup }) => lookup)).size).toBe(made.length);
  expect(new Set(made.map(({ text }) => text.slice(16, 48))).size).toBe(made.length);
});

test("all letters and digits are equally likely in the random part", () => {
  const counts = new Map<string, number>();
  for (let made = 0; made < 4000; made += 1) {
    for (const char of makeKey("secret").text.slice(4, 48)) counts.set(char, (counts.get(char) ?? 0) + 1);
  }
  const expected = (4000 * 44) / 62;
  const chiSquare = DIGITS.reduce(
    (sum, char) => sum + ((counts.get(char) ?? 0) - expected) ** 2 / expected,
    0,
  );
  // 61 degrees of freedom: chance exceeds 160 less than once in a thousand million runs.
  expect(chiSquare).toBeLessThan(160);
});

test("the checksum is CRC32 over all before it, in base62", () => {
  // Worked out by hand from the CRC32 polynomial, so that keys stay readable by programs in other languages.
  const body = `fsk_${"A".repeat(44)}`;
  let crc = 0xffffffff;
  for (const byte of Buffer.from(body)) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  let value = (crc ^ 0xffffffff) >>> 0;
  let digits = "";
  for (let place = 0; place < 6; place += 1) {
    digits = BASE62.charAt(value % 62) + digits;
    value = Math.floor(value / 62);
  }
  expect(parseKey(body + digits)).toEqual({ kind: "secret", lookup: "A".repeat(12), text: body + digits });
});

test("any single wrong character is refused without a look-up", () => {
  fc.assert(
    fc.property(
      keys,
      fc.nat({ max: 53 }),
      fc.constantFrom(...DIGITS, "_", "-", " ", "é", "\0"),
      (key, at, char) => {
        const wrong = key.text.slice(0, at) + char + key.text.slice(at + 1);
        if (wrong !== key.text) expect(parseKey(wrong)).toBeNull();
      },
    ),
    { numRuns: 5000 },
  );
});

test("any two neighbours in the wrong order are refused without a look-up", () => {
  fc.assert(
    fc.property(keys, fc.nat({ max: 52 }), (key, at) => {
      const { text } = key;
      const wrong = text.slice(0, at) + text.charAt(at + 1) + text.charAt(at) + text.slice(at + 2);
      if (wrong !== text) expect(parseKey(wrong)).toBeNull();
    }),
    { numRuns: 2000 },
  );
});

test("a key that is cut, doubled, padded or in another case is refused", () => {
  fc.assert(
    fc.property(keys, fc.nat({ max: 53 }), ({ text }, length) => {
      for (const wrong of [
        text.slice(0, length),
        text.slice(length + 1),
        ` ${text}`,
        `${text}\n`,
        text + text,
      ]) {
        expect(parseKey(wrong)).toBeNull();
      }
      for (const other of [text.toUpperCase(), text.toLowerCase()]) expect(parseKey(other)).toBeNull();
    }),
  );
});

test("reading never throws, whatever the text is", () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string({ unit: "binary", maxLength: 80 }), fc.string({ minLength: 54, maxLength: 54 })),
      (text) => {
        expect(parseKey(text)).toBeNull();
      },
    ),
    { numRuns: 2000 },
  );
  expect(parseKey(`fsk_${"a".repeat(1_000_000)}`)).toBeNull();
});
