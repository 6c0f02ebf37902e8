import { expect, test } from "vitest";
import { acceptedLanguage, directionOf, findLanguage, LANGUAGES } from "../../src/languages/language.ts";
import { wordingIn } from "../../src/languages/wording.ts";

test.each([
  ["de", "de"],
  ["de-AT", "de"],
  ["PT-br", "pt"],
  ["zh-Hant-TW", "zh"],
  ["iw", "he"],
  ["sl", null],
  ["d", null],
  ["deutsch", null],
  ["de_DE", null],
  ["de-", null],
  ["", null],
  [`de${"-abcdefgh".repeat(4)}`, null],
  ["constructor", null],
  [7, null],
  [["de"], null],
  [{ de: true }, null],
  [null, null],
])("the tag %j means %j", (tag, language) => {
  expect(findLanguage(tag)).toBe(language);
});

test.each([
  ["de-CH, fr;q=0.9", "de"],
  ["sl, fr;q=0.5, it;q=0.8", "it"],
  ["fr;q=0, de;q=0.1", "de"],
  ["*", null],
  ["", null],
  [undefined, null],
  ["fr;q=x", null],
  [`${"xx,".repeat(5000)}de`, null],
])("of the header %j, %j is spoken", (header, language) => {
  expect(acceptedLanguage(header)).toBe(language);
});

test("Arabic and Hebrew run from right to left, and a value in their sentences is kept apart", () => {
  expect(LANGUAGES.filter((language) => directionOf(language) === "rtl")).toEqual(["ar", "he"]);
  expect(wordingIn("ar").text("required", { field: "name" })).toContain("\u2068name\u2069");
  expect(wordingIn("de").text("required", { field: "Name" })).toBe("Name fehlt noch");
});

test("an amount is told in the form of its number", () => {
  const told = [1, 2, 5, 22].map((count) => wordingIn("pl").amount("characters", count));
  expect(told).toEqual(["1 znak", "2 znaki", "5 znaków", "22 znaki"]);
  expect(wordingIn("ar").amount("characters", 2)).toBe("حرفان");
  expect(wordingIn("fr").amount("characters", 1_000_000)).toBe("1000000 caractères");
});

test("a value that looks like a name in braces is not filled again", () => {
  expect(wordingIn("en").text("noOption", { field: "{options}", options: "$& {field}" })).toBe(
    "{options} must be one of: $& {field}",
  );
});
