import type { RE2JS } from "re2js";

/** RE2's names of its instructions. */
const ALT = 1;
const ALT_MATCH = 2;
const CAPTURE = 3;
const EMPTY_WIDTH = 4;
const MATCH = 6;
const NOP = 7;
const FIRST_RUNE = 8;
/** The bit of `EMPTY_WIDTH` for the text's beginning. */
const BEGIN_TEXT = 4;

interface Instruction {
  readonly op: number;
  readonly out: number;
  /** The second branch of an `ALT`; the bits of an `EMPTY_WIDTH`. */
  readonly arg: number;
  /** The first and the last character of each range that it matches; only if it matches any. */
  readonly runes?: { readonly length: number } | null;
}

interface Program {
  readonly inst: readonly Instruction[];
  readonly start: number;
}

export interface PatternReach {
  /** Whether it matches at the text's beginning only. */
  readonly isAnchored: boolean;
  /** UTF-16 units from the text's beginning that decide whether it matches; infinite if nothing bounds them. */
  readonly reach: number;
}

export function findReach(compiled: RE2JS): PatternReach {
  const { inst, start } = compiled.re2().prog as Program;
  const isAnchored = beginsWithAnchor(inst, start);
  // A character takes two units at most, and one unit after the match shows whether the text continues.
  const reach = isAnchored ? 2 * (longestMatch(inst, start) + 1) : Infinity;
  return { isAnchored, reach };
}

/** Ranges of characters in all instructions together. */
export function countRanges(compiled: RE2JS): number {
  const { inst } = compiled.re2().prog as Program;
  return inst.reduce((sum, { runes }) => sum + (runes?.length ?? 0) / 2, 0);
}

function beginsWithAnchor(program: Program["inst"], start: number): boolean {
  const seen = new Set<number>();
  const pending = [start];
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    const step = program[at];
    if (step === undefined || seen.has(at)) continue;
    seen.add(at);
    if (step.op === MATCH || step.op >= FIRST_RUNE) return false;
    if (step.op !== EMPTY_WIDTH || (step.arg & BEGIN_TEXT) === 0) pending.push(...waysOn(step));
  }
  return true;
}

/** In characters; infinite if a path returns to an earlier instruction. No recursion: a program may have thousands of instructions. */
function longestMatch(program: Program["inst"], start: number): number {
  const lengths = new Map<number, number>();
  const pending = [start];
  for (let at = pending.at(-1); at !== undefined; at = pending.at(-1)) {
    const step = program[at];
    const ways = step === undefined ? [] : waysOn(step);
    if (lengths.has(at)) {
      const own = step !== undefined && step.op >= FIRST_RUNE ? 1 : 0;
      lengths.set(at, own + Math.max(0, ...ways.map((next) => lengths.get(next) ?? 0)));
      pending.pop();
    } else {
      // Stays infinite for a path that meets this instruction again before it is done.
      lengths.set(at, Infinity);
      pending.push(...ways.filter((next) => !lengths.has(next)));
    }
  }
  return lengths.get(start) ?? 0;
}

function waysOn({ op, out, arg }: Instruction): readonly number[] {
  if (op === ALT || op === ALT_MATCH) return [out, arg];
  return op === CAPTURE || op === EMPTY_WIDTH || op === NOP || op >= FIRST_RUNE ? [out] : [];
}
