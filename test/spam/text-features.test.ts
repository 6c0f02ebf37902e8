import { expect, test } from "vitest";
import { hashOf, mix } from "../../src/spam/hashing.ts";
import { readWords } from "../../src/spam/read-words.ts";
import { BUCKETS, characterBuckets, vocabularyBuckets } from "../../src/spam/text-features.ts";

function vocabularyOf(text: string): Set<number> {
  const { buckets, count } = vocabularyBuckets(readWords(text));
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

test("the characters of a text are its runs of 3 and 4 with white space as one space, each once, up to 2,000 characters", () => {
  for (const text of [
    "",
    "a",
    "ab",
    "  a \t b\u3000\n",
    "we are glad to hear from you, and we are glad to answer",
    "\ud83d\ude00\ud83d\ude00 und \ud800 allein",
    "longer ".repeat(900),
    " ".repeat(5000),
    "無料相談 ".repeat(30),
  ]) {
    characterBucketsOf("another text, which leaves nothing behind ".repeat(60));
    expect(characterBucketsOf(text)).toEqual(runsOf(text));
  }
});

test("a text that is longer than any before it is read whole, and so is the short one after it", () => {
  const long = `${"nein ".repeat(40_000)}danke`;
  for (const text of [long, "kurz", `${long} sehr`]) {
    const { codes, length } = readWords(text);
    expect(String.fromCharCode(...codes.subarray(length - 4, length))).toBe(text.slice(-4));
  }
});

/** Three letters, other ones for each number below 17,576. */
function lettersOf(number: number): string {
  return String.fromCharCode(...[1, 26, 676].map((step) => 97 + (Math.floor(number / step) % 26)));
}

/** The plain way to {@link characterBucketsOf}. */
function runsOf(text: string): Set<number> {
  const read = text.slice(0, 4000).replace(/\s+/g, " ").trim().slice(0, 2000);
  const line = read === "" ? " " : ` ${read} `;
  const runs = new Set<number>();
  for (let at = 0; at + 3 <= line.length; at += 1) {
    runs.add(mix(hashOf(line, at, at + 3)) >>> 15);
    if (at + 4 <= line.length) runs.add(mix(hashOf(line, at, at + 4) + 3) >>> 15);
  }
  return runs;
}

function characterBucketsOf(text: string): Set<number> {
  const { buckets, count } = characterBuckets(readWords(text));
  return new Set(buckets.subarray(0, count));
}
