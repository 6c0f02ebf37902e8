import type { RE2JS } from "re2js";

/** What RE2 calls its instructions. */
const ALT = 1;
const ALT_MATCH = 2;
const CAPTURE = 3;
const EMPTY_WIDTH = 4;
const FAIL = 5;
const NOP = 7;
const FIRST_RUNE = 8;
/** The bit of `EMPTY_WIDTH` for the text's beginning. */
const BEGIN_TEXT = 4;
/** A larger program is not looked at: this walks as deep as it is long. */
const MAX_SIZE = 4000;

interface Instruction {
  readonly op: number;
  readonly out: number;
  /** The other way of an `ALT`; the bits of an `EMPTY_WIDTH`. */
  readonly arg: number;
}

export interface PatternReach {
  /** Whether it matches at the text's beginning only. */
  readonly isAnchored: boolean;
  /** UTF-16 units from the text's beginning that decide whether it matches; infinite where nothing bounds them. */
  readonly reach: number;
}

export function findReach(compiled: RE2JS): PatternReach {
  if (compiled.programSize() > MAX_SIZE) return { isAnchored: false, reach: Infinity };
  const { inst, start } = compiled.re2().prog as { inst: readonly Instruction[]; start: number };
  const isAnchored = beginsWithAnchor(inst, start, new Set());
  // A character takes two units at most, and the one behind the match tells that the text goes on.
  const reach = isAnchored ? 2 * (longestMatch(inst, start, new Map()) + 1) : Infinity;
  return { isAnchored, reach };
}

function beginsWithAnchor(program: readonly Instruction[], at: number, seen: Set<number>): boolean {
  const step = program[at];
  if (step === undefined || step.op === FAIL || seen.has(at)) return true;
  seen.add(at);
  if (step.op === EMPTY_WIDTH && (step.arg & BEGIN_TEXT) !== 0) return true;
  if (![ALT, ALT_MATCH, CAPTURE, NOP, EMPTY_WIDTH].includes(step.op)) return false;
  return waysOn(step).every((next) => beginsWithAnchor(program, next, seen));
}

/** In characters. A way that comes back to where it was has no end. */
function longestMatch(program: readonly Instruction[], at: number, known: Map<number, number>): number {
  const step = program[at];
  if (step === undefined) return 0;
  const found = known.get(at);
  if (found !== undefined) return found;
  known.set(at, Infinity);
  const own = step.op >= FIRST_RUNE ? 1 : 0;
  const length = own + Math.max(0, ...waysOn(step).map((next) => longestMatch(program, next, known)));
  known.set(at, length);
  return length;
}

function waysOn({ op, out, arg }: Instruction): readonly number[] {
  if (op === ALT || op === ALT_MATCH) return [out, arg];
  return op === CAPTURE || op === EMPTY_WIDTH || op === NOP || op >= FIRST_RUNE ? [out] : [];
}
