import { isUnspaced, isWordCharacter } from "../characters.ts";

/** A part of a pattern: a word, or a choice between several patterns. */
export type PatternPart = string | readonly string[];

const SPACE = 32;
const OPEN = 40;
const CLOSE = 41;

/**
 * Splits a pattern into its parts, in order. A choice inside a word becomes a choice between whole words: "r(ead|ide) it" has the parts
 * ["read", "ride"] and "it".
 */
export function partsOf(pattern: string): PatternPart[] {
  const parts: PatternPart[] = [];
  for (let at = 0; at < pattern.length;) {
    const end = endOutside(pattern, at, SPACE);
    const open = pattern.indexOf("(", at);
    if (open < 0 || open >= end) {
      if (end > at) parts.push(pattern.slice(at, end));
      at = end + 1;
      continue;
    }
    const close = endOutside(pattern, open + 1, CLOSE);
    const choices = splitOutside(pattern.slice(open + 1, close), "|");
    if (isWithinWord(pattern, open, close, choices)) {
      parts.push(choices.map((choice) => pattern.slice(at, open) + choice + pattern.slice(close + 1, end)));
      at = end + 1;
    } else {
      if (open > at) parts.push(pattern.slice(at, open));
      parts.push(choices);
      at = close + 1;
    }
  }
  return parts;
}

/** Whether a choice is a part of a word: a letter is before it, or a letter follows a choice that ends with a letter. */
function isWithinWord(pattern: string, open: number, close: number, choices: readonly string[]): boolean {
  if (isLetterAt(pattern, open - 1)) return true;
  return isLetterAt(pattern, close + 1) && choices.some((choice) => isLetterAt(choice, choice.length - 1));
}

/** Whether the character is a letter of a script with spaces between words. */
function isLetterAt(text: string, at: number): boolean {
  const code = at >= 0 && at < text.length ? text.charCodeAt(at) : 0;
  return code > 0 && isWordCharacter(code) && !isUnspaced(code);
}

/** Splits a text at a separator, but not inside parentheses. */
export function splitOutside(text: string, separator: string): string[] {
  const parts: string[] = [];
  for (let at = 0; at <= text.length;) {
    const end = endOutside(text, at, separator.charCodeAt(0));
    parts.push(text.slice(at, end));
    at = end + 1;
  }
  return parts;
}

/** The position of the next such character outside parentheses; the end of the text if there is none. */
function endOutside(text: string, from: number, character: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === character && depth === 0) return at;
    if (code === OPEN) depth += 1;
    else if (code === CLOSE) depth -= 1;
  }
  return text.length;
}
