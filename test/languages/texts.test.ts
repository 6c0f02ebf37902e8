import { expect, test } from "vitest";
import { directionOf, type Language, LANGUAGES } from "../../src/languages/language.ts";
import { readTexts } from "../../src/languages/texts.ts";
import type { Texts } from "../../src/languages/texts/en.ts";
import { valueIn } from "../../src/languages/value-in-words.ts";
import { wordingIn } from "../../src/languages/wording.ts";
import { megabytes } from "../../src/schemas/issue.ts";

const english = readTexts("en");
const keys = Object.keys(english) as (keyof Texts)[];
const others = LANGUAGES.filter((language) => language !== "en");

/** A text in all its forms. */
function formsOf(texts: Texts, key: keyof Texts): readonly string[] {
  const text = texts[key];
  return typeof text === "string" ? [text] : Object.values(text);
}

function namesIn(text: string): string[] {
  return [...text.matchAll(/\{([^{}]*)\}/g)].map(([, name = ""]) => name).sort();
}

test("there are 21 languages, right-to-left ones among them", () => {
  expect(LANGUAGES).toHaveLength(21);
  expect([...LANGUAGES].sort()).toEqual([...LANGUAGES]);
});

test("all languages together take less than 200 KB, whatever packs them into the program", () => {
  const sizes = LANGUAGES.map((language) => Buffer.byteLength(JSON.stringify(readTexts(language))));
  expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(200_000);
});

test.each(others)("%s has every text, with the same names in braces as English", (language) => {
  const texts = readTexts(language);
  expect(Object.keys(texts)).toEqual(keys);
  for (const key of keys) {
    const names = new Set(formsOf(english, key).flatMap(namesIn));
    for (const form of formsOf(texts, key)) {
      expect(form.trim(), key).toBe(form);
      expect(form, key).not.toBe("");
      // A form for one number may say the number in a word.
      const told =
        typeof english[key] === "string" ? namesIn(form) : [...new Set([...namesIn(form), "count"])].sort();
      expect(told, `${language} ${key}`).toEqual([...names].sort());
    }
  }
});

test.each(LANGUAGES)(
  "%s has a form for every whole number up to 1000, and no form that its rules do not have",
  (language) => {
    const rules = new Intl.PluralRules(language);
    const used = new Set(Array.from({ length: 1001 }, (_, count) => rules.select(count)));
    const { pluralCategories } = rules.resolvedOptions();
    const texts = readTexts(language);
    for (const key of keys.filter((each) => typeof english[each] !== "string")) {
      const text = texts[key];
      const forms = typeof text === "string" ? ["other"] : Object.keys(text);
      expect(
        [...used].filter((form) => !forms.includes(form)),
        key,
      ).toEqual([]);
      expect(
        forms.filter((form) => !pluralCategories.some((each) => each === form)),
        key,
      ).toEqual([]);
    }
  },
);

/** Letters of the scripts that these languages are written in. */
const SCRIPTS: Readonly<Record<string, RegExp>> = {
  ar: /\p{Script=Arabic}/u,
  el: /\p{Script=Greek}/u,
  he: /\p{Script=Hebrew}/u,
  ja: /[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Han}]/u,
  ko: /\p{Script=Hangul}/u,
  ru: /\p{Script=Cyrillic}/u,
  uk: /\p{Script=Cyrillic}/u,
  zh: /\p{Script=Han}/u,
};

/** The texts of a language that are English still, or lack its letters. */
function leftInEnglish(language: Language): string[] {
  const texts = readTexts(language);
  const script = SCRIPTS[language] ?? /\p{L}/u;
  return keys.filter((key) => {
    const same = formsOf(english, key);
    const isSentence = same.some((form) => form.split(" ").length > 2);
    return formsOf(texts, key).some((form) => (isSentence && same.includes(form)) || !script.test(form));
  });
}

test.each(others)("no text of %s is left in English", (language) => {
  expect(leftInEnglish(language)).toEqual([]);
});

test("numbers and sizes are written as the language writes them, in Latin digits and ungrouped", () => {
  const written = (["en", "de", "fr", "ar"] as const).map((language) => {
    const wording = wordingIn(language);
    const plain = wording.text("minimumNumber", { field: "A", count: 12_345.25 }).replaceAll(/[^\d.,]/g, "");
    const file = {
      id: "fil_01h455vb4pex5vsknk084sn02q",
      name: "cv.pdf",
      size: 5_452_595,
      type: "application/pdf",
      sha256: "0".repeat(64),
    };
    return [plain, megabytes(19_968, wording), valueIn([file], wording)];
  });
  expect(written).toEqual([
    ["12345.25", "19.5 KB", "cv.pdf (5.2 MB)"],
    ["12345,25", "19,5 KB", "cv.pdf (5,2 MB)"],
    ["12345,25", "19,5 KB", "cv.pdf (5,2 MB)"],
    ["12345.25", "19.5 KB", "cv.pdf (5.2 MB)"],
  ]);
});

test("an amount is said in the form for its number, and in the only form of a language that has one", () => {
  const said = (["en", "ja", "ko", "zh"] as const).map((language) =>
    [1, 2].map((count) => wordingIn(language).amount("characters", count)),
  );
  expect(said).toEqual([
    ["1 character", "2 characters"],
    ["1文字", "2文字"],
    ["1자", "2자"],
    ["1 个字符", "2 个字符"],
  ]);
});

test("the beginning of an address keeps its order in a sentence from right to left", () => {
  for (const language of LANGUAGES.filter((each) => directionOf(each) === "rtl"))
    expect(wordingIn(language).text("noUrl", { field: "" }), language).toMatch(
      /\u2066http:\/\/\u2069.*\u2066https:\/\/\u2069/,
    );
});
