/** Finds a text in the values of submissions, whatever the case of its letters. */
export interface TextMatcher {
  /** For `LIKE … ESCAPE '\'` over the stored JSON: it lets through every submission that matches, and some others. */
  readonly pattern: string;
  /** @param data the stored JSON. */
  matches(data: string): boolean;
}

export function createTextMatcher(wanted: string): TextMatcher {
  const small = wanted.toLowerCase();
  const smallJson = withinJson(small);
  return {
    pattern: `%${Array.from(withinJson(wanted), asPattern).join("")}%`,
    matches: (data) =>
      // Most that the pattern lets through for nothing are told without being parsed.
      data.toLowerCase().includes(smallJson) && hasText(JSON.parse(data), small),
  };
}

/** The text as it stands inside a string of JSON. */
function withinJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** SQLite knows the case of ASCII letters only; any other letter with two cases may be any character. */
function asPattern(char: string): string {
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
