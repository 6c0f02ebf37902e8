import type { RE2JS, RE2Set } from "re2js";
import { patternEngine } from "./pattern-engine.ts";

/**
 * The limit, in instructions times characters, up to which RE2 searches by backtracking, with a bitmap of what it has tried. The worst
 * patterns and texts take 30 ns for each.
 */
const MAX_NOTED_STEPS = 262_144;
/** Bytes of search states that RE2 remembers for one pattern, by its own estimate. */
const MAX_STATE_BYTES = 256 * 1024;

/**
 * Tells whether a pattern occurs in a text, with bounded memory and in steady time.
 *
 * In long texts RE2 is fast because it remembers the states of its search. If they are of no use, it stops remembering by itself. But many
 * short texts that were made for this purpose would fill its memory again and again, and a search would take up to ten times as long. So
 * short texts are searched by backtracking.
 *
 * @param size as in {@link Pattern}
 * @param reach as in {@link Pattern}
 */
export function compileSearch(compiled: RE2JS, size: number, reach: number): (text: string) => boolean {
  let remembering: RE2Set | null = null;
  return (text) => {
    if (size * text.length <= MAX_NOTED_STEPS) return compiled.matcher(text).find();
    remembering ??= compileSet(compiled.pattern(), reach);
    return remembering.match(text).length > 0;
  };
}

/** A set of one pattern, because RE2 bounds the memory of sets only. */
function compileSet(source: string, reach: number): RE2Set {
  const { RE2Set } = patternEngine();
  // An anchored search stops as soon as no match is possible any more. Other patterns read to the end anyway.
  const anchor = reach === Infinity ? RE2Set.UNANCHORED : RE2Set.ANCHOR_START;
  const set = new RE2Set(anchor, 0, MAX_STATE_BYTES);
  set.add(source);
  set.compile();
  return set;
}
