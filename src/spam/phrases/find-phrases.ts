import { readCompiledPhrases } from "./compiled-phrases.ts";
import type { Meaning } from "./meanings.ts";
import { PhraseAutomaton } from "./automaton.ts";
import { readTokens } from "./text-tokens.ts";

/** Null until the first suspicious text is scored. Few commands score one, so the start of the program does not load it. */
let automaton: PhraseAutomaton | null = null;

/** Marks for links, e-mail addresses, money and numbers. */
const MARKS = / *[\ue000-\ue005] */g;
/** The largest number of characters of a phrase that are shown: a single word in it may be as long as the whole text. */
const MAX_SHOWN = 60;

/**
 * Finds the phrases of pitches in a normalised text, in any language. Returns the first phrase of each meaning, in the order of the text.
 */
export function findPhrases(text: string): Map<Meaning, string> {
  automaton ??= new PhraseAutomaton(readCompiledPhrases());
  const read = readTokens(text);
  const found = new Map<Meaning, string>();
  for (let at = 0; at < read.count; at += 1) {
    const phrase = automaton.follow(read, at);
    if (phrase === null || found.has(phrase.meaning)) continue;
    found.set(phrase.meaning, shown(text, read.starts[at] ?? 0, read.ends[phrase.end - 1] ?? 0));
  }
  return found;
}

function shown(text: string, start: number, end: number): string {
  return text
    .slice(start, Math.min(end, start + MAX_SHOWN))
    .replace(MARKS, " … ")
    .trim();
}
