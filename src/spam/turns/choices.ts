import { isUnspaced, isWordCharacter } from "../characters.ts";

/** What a turn is written of: words, and choices of one from several turns. */
export type Part = string | readonly string[];

/** The parts of a turn in order; a choice stands for whole words. */
export function partsOf(turn: string): Part[] {
  const parts: Part[] = [];
  let at = 0;
  for (let open = turn.indexOf("("); open >= 0; open = turn.indexOf("(", at)) {
    const close = closingOf(turn, open);
    parts.push(...wordsOf(turn.slice(at, open)), splitOutside(turn.slice(open + 1, close), "|"));
    at = close + 1;
  }
  return [...parts, ...wordsOf(turn.slice(at))];
}

/** The turns that a turn stands for, if choices within words are made: "r(ead|ide) it" is "read it" and "ride it". */
export function withWholeWords(turn: string): string[] {
  for (let open = turn.indexOf("("); open >= 0;) {
    const close = closingOf(turn, open);
    const before = turn.slice(0, open);
    const after = turn.slice(close + 1);
    const choices = splitOutside(turn.slice(open + 1, close), "|");
    if (
      isLetter(before.at(-1)) ||
      (isLetter(after[0]) && choices.some((choice) => isLetter(choice.at(-1))))
    ) {
      return choices.flatMap((choice) => withWholeWords(before + choice + after));
    }
    open = turn.indexOf("(", close);
  }
  return [turn];
}

/** A letter of a script with spaces. */
function isLetter(character: string | undefined): boolean {
  const code = character?.charCodeAt(0) ?? 0;
  return code > 0 && isWordCharacter(code) && !isUnspaced(code);
}

/** Parts of a text between separators that stand in no parentheses. */
export function splitOutside(text: string, separator: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === "(") depth += 1;
    else if (character === ")") depth -= 1;
    if (character !== separator || depth > 0) continue;
    parts.push(text.slice(start, at));
    start = at + 1;
  }
  return [...parts, text.slice(start)];
}

function closingOf(turn: string, open: number): number {
  let depth = 0;
  for (let at = open; at < turn.length; at += 1) {
    if (turn[at] === "(") depth += 1;
    else if (turn[at] === ")") depth -= 1;
    if (depth === 0) return at;
  }
  throw new Error(`a parenthesis is not closed: ${turn}`);
}

function wordsOf(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== "");
}
