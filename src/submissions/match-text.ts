/** Finds a text in the values of submissions, whatever the case of its letters. */
export interface TextMatcher {
  /** A condition over the stored JSON, `data`: it lets through every submission that matches, and some others. */
  readonly sql: string;
  /** Its only parameter. */
  readonly pattern: string;
  /** @param data the stored JSON. */
  matches(data: string): boolean;
}

export function createTextMatcher(wanted: string): TextMatcher {
  const small = wanted.toLowerCase();
  const smallJson = withinJson(small);
  return {
    sql: `${/[^\0-\x7f]/.test(smallJson) ? HAS_OTHERS_SQL : ""}data LIKE ? ESCAPE '\\'`,
    pattern: `%${smallJson.split(SMALL_OF_DOTTED_I).map(asPattern).join("%")}%`,
    matches: (data) =>
      // Most that the pattern lets through for nothing are told without being parsed.
      data.toLowerCase().includes(smallJson) && hasText(JSON.parse(data), small),
  };
}

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
