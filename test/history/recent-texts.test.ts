import { expect, test } from "vitest";
import { createRecentTexts } from "../../src/history/recent-texts.ts";
import { readWords } from "../../src/spam/read-words.ts";
import { sketchOf } from "../../src/spam/text-sketch.ts";

const letters = "abcdefghijklmnopqrstuvwxyz";

/** Thirty words that no other number's text has. */
function textOf(number: number): string {
  const name = String(number).replace(/\d/g, (digit) => letters.charAt(Number(digit)));
  return Array.from(letters.slice(0, 26), (letter) => `${name}${letter}`).join(" ");
}

function trace(text: string, sender: number) {
  const sketch = sketchOf(readWords(text));
  return { sketch, email: `p${sender}@example.org`, network: `192.0.${sender}` };
}

test("others who sent a long text are counted, the sender of the post and those of other workspaces are not", () => {
  const texts = createRecentTexts();
  expect([1, 1, 2, 2, 3].map((sender) => texts.note("w", trace(textOf(1), sender)))).toEqual([0, 0, 1, 1, 2]);
  expect(texts.note("other", trace(textOf(1), 4))).toBe(0);
  expect(texts.note("w", trace(textOf(2), 4))).toBe(0);
});

test("nearly the same words are the same text, and short texts are none", () => {
  const texts = createRecentTexts();
  texts.note("w", trace(textOf(1), 1));
  expect(texts.note("w", trace(`${textOf(1)} indeed`, 2))).toBe(1);
  texts.note("w", trace("please send me the price list", 1));
  expect(texts.note("w", trace("please send me the price list", 2))).toBe(0);
});

test("a sender with neither address nor network does not count as another sender", () => {
  const texts = createRecentTexts();
  const nobody = { ...trace(textOf(1), 0), email: null, network: null };
  texts.note("w", nobody);
  expect(texts.note("w", nobody)).toBe(0);
  expect(texts.note("w", trace(textOf(1), 1))).toBe(0);
});

test("the oldest texts make room: memory is bounded, and what is forgotten is not mistaken for another", () => {
  const texts = createRecentTexts();
  for (let number = 0; number < 6000; number += 1) {
    expect(texts.note("w", trace(textOf(number), number % 200))).toBe(0);
  }
  expect(texts.note("w", trace(textOf(5999), 201))).toBe(1);
  expect(texts.note("w", trace(textOf(5), 201))).toBe(0);
});
