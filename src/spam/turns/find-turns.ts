import { readLaidTurns } from "./laid-turns.ts";
import type { Meaning } from "./meanings.ts";
import { Paths } from "./paths.ts";
import { readUnits } from "./units.ts";

/** Null until the first suspicious text: few commands judge one, so the start does not wait for it. */
let paths: Paths | null = null;

/** What stands for links, addresses, money and numbers. */
const MARKS = / *[\ue000-\ue005] */g;
/** The largest number of characters of a turn that are told: a word of it, or what stands between two, may be as long as the text. */
const MAX_SHOWN = 60;

/** The turns of pitches in a normalised text, in any language, in order: the words of the first turn of each meaning. */
export function findTurns(text: string): Map<Meaning, string> {
  paths ??= new Paths(readLaidTurns());
  const read = readUnits(text);
  const found = new Map<Meaning, string>();
  for (let at = 0; at < read.count; at += 1) {
    const turn = paths.follow(read, at);
    if (turn === null || found.has(turn.meaning)) continue;
    found.set(turn.meaning, shown(text, read.starts[at] ?? 0, read.ends[turn.end - 1] ?? 0));
  }
  return found;
}

function shown(text: string, start: number, end: number): string {
  return text
    .slice(start, Math.min(end, start + MAX_SHOWN))
    .replace(MARKS, " … ")
    .trim();
}
