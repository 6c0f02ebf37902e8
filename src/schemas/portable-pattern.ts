/*
 * Converts patterns in RE2 syntax (docs/schemas.md) to that of ECMA-262 with the flag `u`, which JSON Schema 2020-12 takes. Most of what
 * both can express differs only in spelling: compare https://github.com/google/re2/wiki/Syntax with https://tc39.es/ecma262/#sec-patterns
 */

/** The meaning of `\s` in RE2; in ECMA-262 it matches more characters. */
const SPACE = "\\t\\n\\f\\r ";
const NAMED_CLASSES: Readonly<Record<string, string>> = {
  alnum: "0-9A-Za-z",
  alpha: "A-Za-z",
  ascii: "\\x00-\\x7f",
  blank: "\\t ",
  cntrl: "\\x00-\\x1f\\x7f",
  digit: "0-9",
  graph: "!-~",
  lower: "a-z",
  print: " -~",
  punct: "!-\\/:-@\\[-`\\{-~",
  space: "\\t\\n\\v\\f\\r ",
  upper: "A-Z",
  word: "0-9A-Za-z_",
  xdigit: "0-9A-Fa-f",
};

/** Matches one token of a pattern outside a class, or the beginning of a class or of a quoted text. */
const OUTSIDE = new RegExp(
  [
    String.raw`(?<quoted>\\Q(?<literal>[\s\S]*?)(?:\\E|$))`,
    String.raw`(?<escape>\\(?:x\{[0-9A-Fa-f]+\}|x[0-9A-Fa-f]{2}|[0-7]{1,3}|[pP](?:\{\^?\w+\}|\w)|[\s\S]))`,
    String.raw`(?<open>\[\^?)`,
    String.raw`(?<group>\(\?(?:P?<\w+>|:)|\((?!\?))`,
    String.raw`(?<flags>\(\?)`,
    String.raw`(?<repeat>\{\d+(?:,\d*)?\}|[*+?])`,
    String.raw`(?<plain>[\s\S])`,
  ].join("|"),
  "uy",
);
const INSIDE = new RegExp(
  [
    String.raw`\[:(?<named>\^?\w+):\]`,
    String.raw`(?<escape>\\(?:x\{[0-9A-Fa-f]+\}|x[0-9A-Fa-f]{2}|[0-7]{1,3}|[pP](?:\{\^?\w+\}|\w)|[\s\S]))`,
    String.raw`(?<plain>[\s\S])`,
  ].join("|"),
  "uy",
);

/**
 * Converts a valid pattern to the syntax of ECMA-262 with the flag `u`. Returns null if the pattern has a part that cannot be converted:
 * flags like `(?i)`, and `\S` or a negated name inside a class.
 */
export function portablePattern(source: string): string | null {
  try {
    const written = translate(source);
    return written === null || !isPattern(written) ? null : written;
  } catch {
    return null;
  }
}

function translate(source: string): string | null {
  let written = "";
  for (let at = 0; at < source.length;) {
    const token = tokenAt(OUTSIDE, source, at);
    at += token.text.length;
    if (token.groups["open"] !== undefined) {
      const rest = translateClass(source, at);
      if (rest === null) return null;
      written += token.text + rest.written;
      at = rest.end;
      continue;
    }
    const next = outsideClass(token);
    if (next === null) return null;
    written += next;
  }
  return written;
}

interface Token {
  readonly text: string;
  readonly groups: Readonly<Record<string, string | undefined>>;
}

function tokenAt(expression: RegExp, source: string, at: number): Token {
  expression.lastIndex = at;
  const match = expression.exec(source);
  return { text: match?.[0] ?? "", groups: match?.groups ?? {} };
}

function outsideClass({ text, groups }: Token): string | null {
  if (groups["quoted"] !== undefined) return Array.from(groups["literal"] ?? "", literal).join("");
  if (groups["escape"] !== undefined) {
    if (text === "\\s") return `[${SPACE}]`;
    if (text === "\\S") return `[^${SPACE}]`;
    if (text === "\\A") return "^";
    if (text === "\\z") return "$";
    return /^\\[bB]$/.test(text) ? text : escaped(text);
  }
  if (groups["flags"] !== undefined) return null;
  if (groups["group"] !== undefined) return text === "(?:" ? text : "(";
  if (groups["repeat"] !== undefined) return text;
  if (text === ".") return "[^\\n]";
  return "^$|)".includes(text) ? text : literal(text);
}

/** @param at the position of the first character of the class, after `[` or `[^`. */
function translateClass(source: string, at: number): { written: string; end: number } | null {
  let written = "";
  for (let end = at; end < source.length;) {
    const token = tokenAt(INSIDE, source, end);
    end += token.text.length;
    // A closing bracket at the beginning of a class stands for itself.
    if (token.text === "]" && end > at + 1) return { written: `${written}]`, end };
    const next = insideClass(token);
    if (next === null) return null;
    written += next;
  }
  return null;
}

function insideClass({ text, groups }: Token): string | null {
  if (groups["named"] !== undefined) return NAMED_CLASSES[groups["named"]] ?? null;
  if (groups["escape"] !== undefined) {
    if (text === "\\s") return SPACE;
    return text === "\\S" ? null : escaped(text);
  }
  // In both syntaxes a hyphen makes a range, or stands for itself at either end.
  return text === "-" ? text : literal(text);
}

/** Converts an escape that has the same meaning inside and outside a class. */
function escaped(text: string): string | null {
  const [, letter = "", rest = ""] = /^\\([\s\S])([\s\S]*)$/u.exec(text) ?? [];
  if (/[dDwWfnrtv]/.test(letter) && rest === "") return text;
  if (letter === "p" || letter === "P") return category(letter, rest.replace(/^\{|\}$/g, ""));
  if (letter === "a") return "\\x07";
  if (letter === "x") return codePoint(Number.parseInt(rest.replace(/[{}]/g, ""), 16));
  if (/[0-7]/.test(letter)) return codePoint(Number.parseInt(letter + rest, 8));
  if (/[A-Za-z89]/.test(letter)) return null;
  return letter === "-" ? "\\x2d" : literal(letter);
}

function category(letter: string, name: string): string | null {
  if (name.startsWith("^")) return null;
  const forms = [`\\${letter}{${name}}`, `\\${letter}{Script=${name}}`];
  return forms.find(isPattern) ?? null;
}

/** Writes a character so that it stands for itself everywhere. */
function literal(character: string): string {
  return /^[\w !"#%&',:;<=>@`~-]$|^[^\x00-\x7f]$/u.test(character) && !/\p{C}/u.test(character)
    ? character
    : codePoint(character.codePointAt(0) ?? 0);
}

function codePoint(value: number): string {
  const character = String.fromCodePoint(value);
  if ("^$\\.*+?()[]{}|/".includes(character)) return `\\${character}`;
  return value < 0x100 ? `\\x${value.toString(16).padStart(2, "0")}` : `\\u{${value.toString(16)}}`;
}

function isPattern(source: string): boolean {
  try {
    return new RegExp(source, "u") instanceof RegExp;
  } catch {
    return false;
  }
}
