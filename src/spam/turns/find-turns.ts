import { readLanguages } from "./languages.ts";
import type { Meaning } from "./meanings.ts";
import { Paths } from "./paths.ts";
import { readUnits } from "./units.ts";

/** The first suspicious text waits for this: most commands judge none. */
let paths: Paths | null = null;

/** What stands for links, addresses, money and numbers. */
const MARKS = / *[\ue000-\ue005] */g;

/** The turns of pitches in a normalised text, in any language: the words of the first of each meaning, in order. */
export function findTurns(text: string): Map<Meaning, string> {
  paths ??= new Paths(readLanguages());
  const read = readUnits(text);
  const found = new Map<Meaning, string>();
  for (let at = 0; at < read.count; at += 1) {
    const turn = paths.follow(read, at);
    if (turn === null || found.has(turn.meaning)) continue;
    found.set(
      turn.meaning,
      text
        .slice(read.starts[at], read.ends[turn.end - 1])
        .replace(MARKS, " … ")
        .trim(),
    );
  }
  return found;
}
