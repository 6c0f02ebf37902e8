import { expect, test } from "vitest";
import { normaliseText } from "../../src/spam/normalise-text.ts";
import { readWords } from "../../src/spam/read-words.ts";
import { SUBJECT_WORDS } from "../../src/spam/subject-words.ts";
import { SUBJECT_PLACES, subjectBuckets } from "../../src/spam/text-subjects.ts";

const names = Object.keys(SUBJECT_WORDS);

function placesIn(text: string): number[] {
  const { buckets, count } = subjectBuckets(readWords(text));
  return [...buckets.subarray(0, count)];
}

const place = (subject: string): number => names.indexOf(subject);
const pair = (first: string, second: string): number =>
  names.length + place(first) * names.length + place(second);

test("a word stands under one subject only", () => {
  const words = Object.values(SUBJECT_WORDS).flatMap((list) => list.split(/\s+/));
  expect(words.filter((word, index) => words.indexOf(word) !== index)).toEqual([]);
});

test("each word is found in a text", () => {
  const found = (word: string, subject: string): boolean =>
    placesIn(normaliseText(word, [])).includes(place(subject));
  const missed = Object.entries(SUBJECT_WORDS).flatMap(([subject, list]) =>
    list.split(/\s+/).filter((word) => !found(word, subject)),
  );
  expect(missed).toEqual([]);
});

test.each(["cheap loans", "günstige kredite", "дешёвые кредиты", "低价贷款", "대출이 필요하면"])(
  "%s mentions a loan",
  (text) => {
    expect(placesIn(text)).toContain(place("loan"));
  },
);

test("a word of Hebrew or Arabic mentions its subject behind what is written in one word with it", () => {
  expect(placesIn("ולהלוואה")).toContain(place("loan"));
  expect(placesIn("والقروض")).toContain(place("loan"));
  expect(placesIn("xxxloan")).toEqual([]);
});

test("a sentence without spaces mentions a subject beyond the longest word", () => {
  expect(placesIn(`${"的".repeat(60)}贷款`)).toContain(place("loan"));
});

test("two subjects near each other are a pair in their order, and far apart they are none", () => {
  expect(placesIn("free loan")).toContain(pair("free", "loan"));
  expect(placesIn("free loan")).not.toContain(pair("loan", "free"));
  expect(placesIn("free one two three loan")).toContain(pair("free", "loan"));
  expect(placesIn("free one two three four loan")).not.toContain(pair("free", "loan"));
  expect(placesIn("loan loans")).toEqual([place("loan")]);
});

test("a text without such words has no subject, and no text has a place beyond the last", () => {
  expect(placesIn("the heron waits")).toEqual([]);
  const all = placesIn(Object.values(SUBJECT_WORDS).join(" ").slice(0, 6000));
  expect(Math.max(...all)).toBeLessThan(SUBJECT_PLACES);
});
