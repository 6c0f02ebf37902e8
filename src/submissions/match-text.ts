/** Finds words in the values of submissions, whatever the case of their letters. */
export interface TextMatcher {
  /** A condition over the stored JSON, `data`: it lets through every submission that matches, and some others. */
  readonly sql: string;
  /** Its parameters. */
  readonly patterns: readonly string[];
  /** @param data the stored JSON. */
  matches(data: string): boolean;
}

/** Each pattern is compared with all of the data, and the longest words stand in the fewest submissions. */
const MAX_PATTERNS = 4;

/** @param wanted words between spaces, each of which must be in some value; those between double quotes stay together. */
export function createTextMatcher(wanted: string): TextMatcher {
  const words = wordsOf(wanted.toLowerCase());
  const wordsInJson = words.map(withinJson);
  const longest = wordsInJson.toSorted((one, other) => other.length - one.length).slice(0, MAX_PATTERNS);
  const hasOthers = wordsInJson.some((word) => /[^\0-\x7f]/.test(word));
  return {
    sql: `${hasOthers ? HAS_OTHERS_SQL : ""}${longest.map(() => PATTERN_SQL).join(" AND ")}`,
    patterns: longest.map((word) => `%${word.split(SMALL_OF_DOTTED_I).map(asPattern).join("%")}%`),
    matches(data) {
      // Most that the patterns let through for nothing are told without being parsed.
      const small = data.toLowerCase();
      if (!wordsInJson.every((word) => small.includes(word))) return false;
      const value: unknown = JSON.parse(data);
      return words.every((word) => hasText(value, word));
    },
  };
}

/** All of it if it has no word. A quote that nobody closed goes to the end. */
function wordsOf(wanted: string): readonly string[] {
  const found = [...wanted.matchAll(/"([^"]*)"?|[^\s"]+/g)].map(([word, quoted]) => (quoted ?? word).trim());
  const words = new Set(found.filter((word) => word !== ""));
  return words.size === 0 ? [wanted] : [...words];
}

const PATTERN_SQL = "data LIKE ? ESCAPE '\\'";

/**
 * Whether a submission has any character outside ASCII. The pattern of a text in another alphabet lets nearly everything through;
 * this tells submissions in English in a fraction of the time that reading them takes.
 */
const HAS_OTHERS_SQL = "octet_length(data) > length(data) AND ";

/** The text as it stands inside a string of JSON. */
function withinJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** The only letter whose small form is longer: U+0130 becomes these two characters. */
const SMALL_OF_DOTTED_I = "i\u0307";

/**
 * SQLite knows the case of ASCII letters only; any other letter with two cases may be any character. So may `i` and `k`, which
 * are also the small letters of U+0130 and of the sign U+212A.
 */
function asPattern(text: string): string {
  return Array.from(text, charPattern).join("");
}

function charPattern(char: string): string {
  if (char === "i" || char === "k") return "_";
  if (char === "%" || char === "_" || char === "\\") return `\\${char}`;
  const isAscii = char <= "\u007f";
  return isAscii || char.toLowerCase() === char.toUpperCase() ? char : "_";
}

/** In a value at any depth; names of fields do not count. */
function hasText(value: unknown, small: string): boolean {
  if (typeof value === "object" && value !== null) {
    return Object.values(value).some((member) => hasText(member, small));
  }
  if (typeof value === "string") return value.toLowerCase().includes(small);
  return value !== null && JSON.stringify(value).includes(small);
}
