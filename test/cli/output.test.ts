import * as fc from "fast-check";
import { expect, test } from "vitest";
import { jsonText, plainText } from "../../src/foundation/plain-text.ts";

/** Every control character and every mark that turns the direction of text, from Unicode's own properties. */
function dangerous(text: string): string[] {
  return text.match(/[\p{Cc}\p{Bidi_Control}]/gu) ?? [];
}

const nasty = fc.string({
  unit: fc.oneof(
    fc.integer({ min: 0, max: 0x9f }).map((code) => String.fromCharCode(code)),
    fc.constantFrom(
      "\u061c",
      "\u200e",
      "\u200f",
      "\u202a",
      "\u202b",
      "\u202c",
      "\u202d",
      "\u202e",
      "\u2066",
      "\u2067",
      "\u2068",
      "\u2069",
      "\u2028",
      "\x1b[31m",
      "\x1b]0;title\x07",
      "ä",
      "😀",
      "\ud800",
    ),
  ),
  maxLength: 30,
});

test("no control character and no turn of direction reaches a terminal, and a text stays in its line", () => {
  fc.assert(
    fc.property(
      fc.oneof(nasty, fc.string({ unit: "binary" })),
      (text) => dangerous(plainText(text)).length === 0,
    ),
  );
});

test("every single one of them is caught", () => {
  const missed = [];
  for (let code = 0; code <= 0xffff; code += 1) {
    const char = String.fromCharCode(code);
    if (dangerous(char).length > 0 && dangerous(plainText(char)).length > 0) missed.push(code.toString(16));
    if (dangerous(char).length > 0 && dangerous(jsonText(char).replaceAll("\n", "")).length > 0)
      missed.push(code.toString(16));
  }
  expect(missed).toEqual([]);
});

test("what is harmless is left as it is, and line breaks become one blank", () => {
  expect(plainText("Grüße, שלום, 你好 😀 👩‍👩‍👧")).toBe("Grüße, שלום, 你好 😀 👩‍👩‍👧");
  expect(plainText("a\r\n\tb\u2028c")).toBe("a b c");
  expect(plainText("\x1b[2Jcleared\x1b]8;;http://x\x07link")).toBe("[2Jcleared]8;;http://xlink");
});

test("JSON escapes them and is still the same value", () => {
  const value = fc.jsonValue({ stringUnit: "binary" });
  fc.assert(
    fc.property(
      fc.oneof(value, fc.dictionary(nasty, nasty)),
      fc.constantFrom(undefined, 2),
      (held, indent) => {
        const text = jsonText(held, indent);
        expect(dangerous(text.replaceAll("\n", ""))).toEqual([]);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(held)));
      },
    ),
  );
});

test("one JSON object a line holds no line break, whatever is in it", () => {
  fc.assert(fc.property(fc.dictionary(nasty, nasty), (held) => !/[\n\r]/.test(jsonText(held))));
});
