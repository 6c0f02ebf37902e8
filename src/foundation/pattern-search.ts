import { type RE2JS, RE2Set } from "re2js";

/**
 * Instructions times characters up to which RE2 tries the ways through a pattern one after the other, and notes in a bit what it has
 * tried. The worst patterns and texts take 30 ns for each.
 */
const MAX_NOTED_STEPS = 262_144;
/** Bytes a pattern for remembered search states, by RE2's estimate. */
const MAX_STATE_BYTES = 256 * 1024;

/**
 * Tells whether a pattern occurs in a text, with bounded memory and in steady time.
 *
 * In long texts RE2 is fast because it remembers the states of its search. If they are of no use, it stops remembering by itself. Many short
 * texts that were made for this purpose fill the memory again and again, and a search takes up to ten times as long. So short texts are
 * searched without it.
 *
 * @param size and `reach` as a pattern has them.
 */
export function compileSearch(compiled: RE2JS, size: number, reach: number): (text: string) => boolean {
  let remembering: RE2Set | null = null;
  return (text) => {
    if (size * text.length <= MAX_NOTED_STEPS) return compiled.matcher(text).find();
    remembering ??= compileSet(compiled.pattern(), reach);
    return remembering.match(text).length > 0;
  };
}

/** A set of one, because only sets let the memory be bounded. */
function compileSet(source: string, reach: number): RE2Set {
  // For an anchored pattern RE2 stops when no match is possible any more. Other patterns read to the end anyway.
  const anchor = reach === Infinity ? RE2Set.UNANCHORED : RE2Set.ANCHOR_START;
  const set = new RE2Set(anchor, 0, MAX_STATE_BYTES);
  set.add(source);
  set.compile();
  return set;
}
