import { RE2Set } from "re2js";

/** Bytes a pattern for remembered search states, by RE2's estimate. */
const MAX_STATE_BYTES = 256 * 1024;
/** How many times in a row the memory may fill up before the pattern is searched without it. */
const MAX_PATIENCE = 20;
/** Characters of text that restore the patience for one more time. */
const CHARACTERS_PER_PATIENCE = 10_000;

/**
 * Tells whether a pattern occurs in a text, with bounded memory and in steady time.
 *
 * RE2 is fast because it remembers the states of its search. Many short texts made for this purpose fill that memory again and
 * again, which takes ten times longer than a search without it. In that case the memory is not used for a while.
 *
 * Each of the two is compiled when it is first needed. To search without memory always takes 3 to 16 times longer for ordinary texts.
 *
 * @param reach as a pattern has it.
 */
export function compileSearch(source: string, reach: number): (text: string) => boolean {
  // For an anchored pattern RE2 stops when no match is possible any more. Other patterns read to the end anyway.
  const anchor = reach === Infinity ? RE2Set.UNANCHORED : RE2Set.ANCHOR_START;
  let remembering: RE2Set | null = null;
  let forgetful: RE2Set | null = null;
  let patience = MAX_PATIENCE;
  return (text) => {
    const isPatient = patience >= 1;
    const set = isPatient
      ? (remembering ??= compileSet(source, anchor, MAX_STATE_BYTES))
      : (forgetful ??= compileSet(source, anchor, 0));
    const isMatch = set.match(text).length > 0;
    // A search enters its first state into the memory, so an empty one was cleared on the way.
    if (isPatient && set.dfa.startStates.size === 0) patience -= 1;
    patience = Math.min(MAX_PATIENCE, patience + text.length / CHARACTERS_PER_PATIENCE);
    return isMatch;
  };
}

/** A set of one, because only sets let the memory be bounded. */
function compileSet(source: string, anchor: number, stateBytes: number): RE2Set {
  const set = new RE2Set(anchor, 0, stateBytes);
  set.add(source);
  set.compile();
  return set;
}
