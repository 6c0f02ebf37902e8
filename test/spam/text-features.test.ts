import { expect, test } from "vitest";
import { readWords } from "../../src/spam/read-words.ts";
import { BUCKETS, characterBuckets, vocabularyBuckets } from "../../src/spam/text-features.ts";

function vocabularyOf(text: string): Set<number> {
  const { buckets, count } = vocabularyBuckets(text, readWords(text));
  return new Set(buckets.subarray(0, count));
}

test("a text without spaces has the pieces of the words in it, wherever they stand", () => {
  for (const [part, whole] of [
    ["低价贷款", "我们提供低价贷款服务"],
    ["無料相談", "本日まで無料相談受付中"],
    ["ราคา", "สินค้าราคาโรงงาน"],
    ["대출", "무담보대출가능"],
  ] as const) {
    expect([...vocabularyOf(whole)]).toEqual(expect.arrayContaining([...vocabularyOf(part)]));
  }
});

test("a text without spaces is read beyond the longest word", () => {
  const long = "的".repeat(60);
  expect([...vocabularyOf(`${long}贷款`)]).toEqual(expect.arrayContaining([...vocabularyOf("贷款")]));
});

test("forms of a word share its beginning, and short words have none", () => {
  const other = vocabularyOf("кредиты");
  expect([...vocabularyOf("кредита")].filter((bucket) => other.has(bucket))).toHaveLength(1);
  expect(vocabularyOf("loan").size).toBe(1);
});

test("however long a text is, its features are bounded and below the number of buckets", () => {
  const numbers = Array.from({ length: 17_000 }, (_, index) => index);
  const words = numbers.map((number) => `${lettersOf(number)}sail`).join(" ");
  const signs = numbers.map((number) => String.fromCharCode(0x4e00 + number)).join("");
  for (const { text, most } of [
    { text: words, most: 3 * 500 },
    { text: signs, most: 3 * 2000 },
  ]) {
    const [vocabulary, characters] = [vocabularyOf(text), characterBucketsOf(text)];
    expect(vocabulary.size).toBeLessThanOrEqual(most);
    expect(characters.size).toBeLessThanOrEqual(2 * 2002);
    expect(Math.max(...vocabulary, ...characters)).toBeLessThan(BUCKETS);
  }
});

/** Three letters, other ones for each number below 17,576. */
function lettersOf(number: number): string {
  return String.fromCharCode(...[1, 26, 676].map((step) => 97 + (Math.floor(number / step) % 26)));
}

function characterBucketsOf(text: string): Set<number> {
  const { buckets, count } = characterBuckets(text);
  return new Set(buckets.subarray(0, count));
}
