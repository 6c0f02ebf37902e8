import { byEngine, type TextsByEngine } from "../../database/steps.ts";
import { FormsvcError } from "../../foundation/errors.ts";

/** Finds submissions whose values contain the given words. Upper and lower case are ignored. */
export interface TextMatcher {
  /**
   * An SQL condition over {@link SEARCHED_COLUMNS}. Every submission that matches satisfies it; some others do too. Null if all satisfy it.
   */
  readonly sql: TextsByEngine | null;
  /** The parameters of `sql`. */
  readonly parameters: readonly string[];
  /**
   * Whether each word occurs in some value of these texts. @param texts the stored JSON of the searched columns, or null for an empty
   * column.
   */
  matches(texts: readonly (string | null)[]): boolean;
}

/** The columns of a submission that are searched; each holds JSON or null. */
export const SEARCHED_COLUMNS = ["data", "unknown_fields"] as const;

/** The longest text that can be searched for, in UTF-16 units. */
export const MAX_SEARCHED_LENGTH = 200;
/** The largest number of words: each is looked for in the whole text, and most texts do not contain the first. */
const MAX_WORDS = 10;
/**
 * The longest word that is compared, in UTF-16 units. Up to 250 units the engine searches a text with a table, so the cost grows only with
 * the length of the text. Only a word with letters that become two units in lower case can be longer; it is cut, so it also finds other
 * words with the same beginning.
 */
const MAX_COMPARED = 200;
/**
 * The largest number of word parts that SQL compares, and the longest, in characters: each is looked for in the whole text. See
 * {@link longestParts}.
 */
const MAX_PARTS = 2;
const MAX_PART_LENGTH = 16;

/** Returns null if this text can be searched for, else what is wrong with it. */
export function searchProblem(wanted: string): string | null {
  if (wanted.length > MAX_SEARCHED_LENGTH) return `search for at most ${MAX_SEARCHED_LENGTH} characters`;
  const { length } = wordsOf(wanted);
  return length > MAX_WORDS ? `search for at most ${MAX_WORDS} words; there are ${length}` : null;
}

/**
 * @param wanted words separated by spaces, each of which must occur in some value. Words between double quotes stay together.
 * @throws invalid_request as {@link searchProblem} says.
 */
export function createTextMatcher(wanted: string): TextMatcher {
  const problem = searchProblem(wanted);
  if (problem !== null) throw new FormsvcError("invalid_request", problem);
  const inLower = SIGMAS.test(wanted.toLowerCase())
    ? withOneSigma
    : (text: string): string => text.toLowerCase();
  const words = wordsOf(inLower(wanted)).map((word) => word.slice(0, MAX_COMPARED));
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
      // Most submissions that satisfy the SQL condition by chance are rejected here, without parsing their JSON.
      const small = there.map(inLower);
      if (!wordsInJson.every((word) => small.some((text) => text.includes(word)))) return false;
      const values = there.map((text): unknown => JSON.parse(text));
      return words.every((word) => values.some((value) => hasText(value, word, inLower)));
    },
  };
}

const SIGMAS = /[\u03c2\u03c3]/;

/**
 * The text in lower case, with one sigma for both. A sigma at the end of a word is another letter in lower case, so the beginning of a
 * word in capitals would not be found in the whole word.
 */
function withOneSigma(text: string): string {
  return text.toLowerCase().replaceAll("\u03c2", "\u03c3");
}

/** Splits a text into words. A text without a word is one word. A quote that is not closed goes to the end. */
function wordsOf(wanted: string): readonly string[] {
  const found = [...wanted.matchAll(/"([^"]*)"?|[^\s"]+/g)].map(([word, quoted]) => (quoted ?? word).trim());
  const words = new Set(found.filter((word) => word !== ""));
  return words.size === 0 ? [wanted] : [...words];
}

/**
 * The engines have different functions for this. `LIKE`, which both have, takes eight times as long for a text that is made to slow it
 * down.
 */
const FIND_SQL = { sqlite: "instr", postgresql: "strpos" } as const;
const partSql =
  (engine: keyof TextsByEngine) =>
  (column: string): string =>
    `${FIND_SQL[engine]}(lower(${column}), ?) > 0`;

/**
 * A condition: the text has a character outside ASCII. SQL cannot compare words of other alphabets, so nearly every submission would pass.
 * This condition rejects English submissions in a fraction of the time that reading them takes.
 */
const HAS_OTHERS_SQL = (column: string): string => `octet_length(${column}) > length(${column})`;

function anyColumn(condition: (column: string) => string): string {
  return `(${SEARCHED_COLUMNS.map(condition).join(" OR ")})`;
}

/** The text as JSON writes it inside a string. */
function withinJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/**
 * Returns the longest ASCII parts of the words. Both engines convert only ASCII to lower case, so SQL compares only these parts. The
 * letters `i` and `k` are left out: JavaScript converts U+0130 and U+212A to them, and the engines do not.
 */
function longestParts(words: readonly string[]): readonly string[] {
  const longestOf = (word: string): string => byLength(word.match(/[\0-hjl-\x7f]+/g) ?? [])[0] ?? "";
  const parts = words.map((word) => longestOf(word).slice(0, MAX_PART_LENGTH)).filter((part) => part !== "");
  return byLength(parts).slice(0, MAX_PARTS);
}

/** Sorts the longest first, because long parts occur in the fewest submissions. */
function byLength(texts: readonly string[]): readonly string[] {
  return texts.toSorted((one, other) => other.length - one.length);
}

/** Whether a value contains the text, at any depth. Names of fields do not count. @param small the text as `inLower` gives it */
function hasText(value: unknown, small: string, inLower: (text: string) => string): boolean {
  if (typeof value === "object" && value !== null) {
    return Object.values(value).some((member) => hasText(member, small, inLower));
  }
  if (typeof value === "string") return inLower(value).includes(small);
  return value !== null && JSON.stringify(value).includes(small);
}
