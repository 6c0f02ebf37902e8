import { byEngine, type TextsByEngine } from "../../database/steps.ts";
import { FormsvcError } from "../../foundation/errors.ts";

/** Finds words in the values of submissions, whatever the case of their letters. */
export interface TextMatcher {
  /** A condition over {@link SEARCHED_COLUMNS}: it lets through every submission that matches, and some others. Null lets all through. */
  readonly sql: TextsByEngine | null;
  /** Its parameters. */
  readonly parameters: readonly string[];
  /** Whether each word is in a value of any of these texts. @param texts the stored JSON of the searched columns; null has no value. */
  matches(texts: readonly (string | null)[]): boolean;
}

/** The columns of a submission that are searched, each with JSON or null. */
export const SEARCHED_COLUMNS = ["data", "unknown_fields"] as const;

/** Longest text that is searched for, in UTF-16 units. */
export const MAX_SEARCHED_LENGTH = 200;
/** Each word is looked for in the whole text, and most texts do not have the first. */
const MAX_WORDS = 10;
/**
 * A search costs the length of the text, and never that times the length of the word, because the engine's search within a text has a table
 * for 250 units. Only words of 200 small letters that each stand for two are cut, and found with what stands behind them.
 */
const MAX_COMPARED = 200;
/** SQL compares the parts of words that both engines know in small letters: few, and short ones, for the same reason. */
const MAX_PARTS = 2;
const MAX_PART_LENGTH = 16;

/** Null if this text can be searched for; else what is wrong with it. */
export function searchProblem(wanted: string): string | null {
  if (wanted.length > MAX_SEARCHED_LENGTH) return `search for at most ${MAX_SEARCHED_LENGTH} characters`;
  const { length } = wordsOf(wanted);
  return length > MAX_WORDS ? `search for at most ${MAX_WORDS} words; there are ${length}` : null;
}

/**
 * @param wanted words between spaces, each of which must be in some value; those between double quotes stay together.
 * @throws invalid_request as {@link searchProblem} says.
 */
export function createTextMatcher(wanted: string): TextMatcher {
  const problem = searchProblem(wanted);
  if (problem !== null) throw new FormsvcError("invalid_request", problem);
  const words = wordsOf(wanted.toLowerCase()).map((word) => word.slice(0, MAX_COMPARED));
  const wordsInJson = words.map((word) => withinJson(word).slice(0, MAX_COMPARED));
  const parts = longestParts(wordsInJson);
  const hasOthers = wordsInJson.some((word) => /[^\0-\x7f]/.test(word));
  const conditionsFor = (engine: keyof TextsByEngine): string =>
    [...(hasOthers ? [anyColumn(HAS_OTHERS_SQL)] : []), ...parts.map(() => anyColumn(partSql(engine)))].join(
      " AND ",
    );
  return {
    sql: hasOthers || parts.length > 0 ? byEngine(conditionsFor) : null,
    parameters: parts.flatMap((part) => SEARCHED_COLUMNS.map(() => part)),
    matches(texts) {
      const there = texts.filter((text) => text !== null);
      // Most that SQL lets through for nothing are told without being parsed.
      const small = there.map((text) => text.toLowerCase());
      if (!wordsInJson.every((word) => small.some((text) => text.includes(word)))) return false;
      const values = there.map((text): unknown => JSON.parse(text));
      return words.every((word) => values.some((value) => hasText(value, word)));
    },
  };
}

/** All of it if it has no word. A quote that nobody closed goes to the end. */
function wordsOf(wanted: string): readonly string[] {
  const found = [...wanted.matchAll(/"([^"]*)"?|[^\s"]+/g)].map(([word, quoted]) => (quoted ?? word).trim());
  const words = new Set(found.filter((word) => word !== ""));
  return words.size === 0 ? [wanted] : [...words];
}

/** Neither engine has a function of the other. `LIKE`, which both have, takes eight times as long for a text that was made for it. */
const FIND_SQL = { sqlite: "instr", postgresql: "strpos" } as const;
const partSql =
  (engine: keyof TextsByEngine) =>
  (column: string): string =>
    `${FIND_SQL[engine]}(lower(${column}), ?) > 0`;

/**
 * Whether a text has any character outside ASCII. SQL lets nearly everything through for a word in another alphabet; this tells
 * submissions in English in a fraction of the time that reading them takes.
 */
const HAS_OTHERS_SQL = (column: string): string => `octet_length(${column}) > length(${column})`;

function anyColumn(condition: (column: string) => string): string {
  return `(${SEARCHED_COLUMNS.map(condition).join(" OR ")})`;
}

/** The text as it stands inside a string of JSON. */
function withinJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/**
 * Both engines know the small letters of ASCII alone, so a word is compared in its parts of these. Not with `i` and `k`: they are also the
 * small letters of U+0130 and of the sign U+212A.
 */
function longestParts(words: readonly string[]): readonly string[] {
  const longestOf = (word: string): string => byLength(word.match(/[\0-hjl-\x7f]+/g) ?? [])[0] ?? "";
  const parts = words.map((word) => longestOf(word).slice(0, MAX_PART_LENGTH)).filter((part) => part !== "");
  return byLength(parts).slice(0, MAX_PARTS);
}

/** The longest stand in the fewest submissions. */
function byLength(texts: readonly string[]): readonly string[] {
  return texts.toSorted((one, other) => other.length - one.length);
}

/** In a value at any depth; names of fields do not count. */
function hasText(value: unknown, small: string): boolean {
  if (typeof value === "object" && value !== null) {
    return Object.values(value).some((member) => hasText(member, small));
  }
  if (typeof value === "string") return value.toLowerCase().includes(small);
  return value !== null && JSON.stringify(value).includes(small);
}
