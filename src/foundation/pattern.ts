import { RE2JS, RE2JSSyntaxException } from "re2js";
import { compileSearch } from "./pattern-search.ts";
import { measurePattern } from "./pattern-size.ts";

/** In UTF-16 units. */
export const MAX_PATTERN_LENGTH = 500;
/** Steps of all patterns of a schema, see {@link Pattern.cost}: compiling them takes about 15 ms at worst. */
export const MAX_PATTERN_COST_IN_SCHEMA = 4000;
/** By {@link measurePattern}: what is larger is not compiled to find out its size. */
const MAX_ESTIMATED_SIZE = 2 * MAX_PATTERN_COST_IN_SCHEMA;
/** Steps that each class of scripts or categories takes besides its instruction: it has up to 800 ranges of characters. */
const STEPS_FOR_RANGES = 1.6;
/** Steps that reading a class of a script or category takes, as often as it is written: it has hundreds of ranges. */
const STEPS_PER_WIDE_CLASS = 12;
/** Steps of compiled patterns that are remembered: of more than ten schemas of the largest size. */
const MAX_REMEMBERED_COST = 50_000;
/** Largest pattern that may be searched for in texts of any length, in RE2 instructions. */
export const MAX_UNBOUNDED_PATTERN_SIZE = 48;
/** Longest text of one submission that the patterns are bounded for: the default body limit. */
const TEXT_LENGTH = 65_536;
/**
 * Instructions times characters that the patterns of a schema may take for one submission. The worst patterns and texts that
 * we found take 30 ns of processor time for each, so a submission takes about 0.1 s at worst.
 */
const MAX_SEARCH_STEPS = MAX_UNBOUNDED_PATTERN_SIZE * TEXT_LENGTH;
/** The longest text that is searched by large patterns although its field's `maxLength` refuses it already. */
export const MAX_REFUSED_TEXT_LENGTH = Math.floor(MAX_SEARCH_STEPS / MAX_PATTERN_COST_IN_SCHEMA);

export interface Pattern {
  /** Whether it surely matches at the text's beginning only. */
  readonly isAnchored: boolean;
  /** UTF-16 units from the text's beginning that decide whether it matches; infinite if nothing bounds them. */
  readonly reach: number;
  /** RE2 instructions: what a search takes for each character. */
  readonly size: number;
  /** Steps that compiling takes: the instructions, and more for classes with many ranges of characters, such as `\pL`. */
  readonly cost: number;
  /** Whether matching reads each character once, for any size of pattern. Anchored, unambiguous patterns do. */
  readonly isOnePass: boolean;
  matches(text: string): boolean;
}

/** The least {@link Pattern.cost} of a pattern, without compiling it. */
export function leastCost(source: string): number {
  return STEPS_PER_WIDE_CLASS * (source.match(/\\p/gi)?.length ?? 0);
}

/** The pattern that somebody sets, or words that say what is wrong with it and what to do. */
export function checkPattern(source: string): Pattern | string {
  if (source.length > MAX_PATTERN_LENGTH)
    return `is longer than ${MAX_PATTERN_LENGTH} characters; shorten it`;
  if (measurePattern(source).size > MAX_ESTIMATED_SIZE)
    return "is too large with its repetition counts written out; lower them, or bound lengths with maxLength";
  return compilePattern(source);
}

/** Every schema is compiled anew when any setting changes, and while somebody types it. The least recently used goes first. */
const remembered = new Map<string, Pattern>();
let rememberedCost = 0;

/** A pattern that was checked when it was set. */
export function compilePattern(source: string): Pattern | string {
  const known = remembered.get(source);
  const pattern = known ?? compileAnew(source);
  if (typeof pattern === "string") return pattern;
  remembered.delete(source);
  remembered.set(source, pattern);
  if (known === undefined) rememberedCost += pattern.cost;
  for (const [oldest, { cost }] of remembered) {
    if (rememberedCost <= MAX_REMEMBERED_COST) break;
    remembered.delete(oldest);
    rememberedCost -= cost;
  }
  return pattern;
}

function compileAnew(source: string): Pattern | string {
  try {
    const compiled = RE2JS.compile(source);
    const size = compiled.programSize();
    const { wide, length, isAnchored } = measurePattern(source);
    const cost = size + leastCost(source) + Math.ceil(wide * STEPS_FOR_RANGES);
    // A character takes two units at most, and one unit after the match shows whether the text continues.
    const reach = isAnchored ? 2 * (length + 1) : Infinity;
    const isOnePass = compiled.re2().onepass !== null;
    const matches = isOnePass ? (text: string) => compiled.test(text) : compileSearch(compiled, size, reach);
    return { isAnchored, reach, size, cost, isOnePass, matches };
  } catch (error) {
    return explainRefusal(error);
  }
}

/**
 * The longest text that is surely matched in time although the field's `maxLength` refuses it. Other problems of a refused
 * text are still reported, but not at any price.
 */
export function longestRefusedText({ isOnePass, size, reach }: Pattern): number {
  const isFast = isOnePass || size <= MAX_UNBOUNDED_PATTERN_SIZE || reach <= MAX_REFUSED_TEXT_LENGTH;
  return isFast ? Infinity : MAX_REFUSED_TEXT_LENGTH;
}

/** The longest text in which one pattern alone may be searched for. */
export function longestSearchedText({ size }: Pattern): number {
  return Math.floor(MAX_SEARCH_STEPS / size);
}

/** A pattern, and the most characters of one submission that it reads: infinite for items of an array. */
export interface PatternUse {
  readonly path: string;
  readonly pattern: Pattern;
  readonly textLength: number;
}

/** The largest of the patterns that together could delay one submission too long; undefined if none do. */
export function findSlowest(uses: readonly PatternUse[]): PatternUse | undefined {
  const searches = uses
    .filter(({ pattern }) => !pattern.isOnePass)
    .toSorted((left, right) => right.pattern.size - left.pattern.size);
  let steps = 0;
  let textLeft = TEXT_LENGTH;
  for (const { pattern, textLength } of searches) {
    const length = Math.min(textLength, textLeft);
    steps += pattern.size * length;
    textLeft -= length;
  }
  return steps > MAX_SEARCH_STEPS ? searches[0] : undefined;
}

function explainRefusal(error: unknown): string {
  if (!(error instanceof RE2JSSyntaxException)) return "is not a pattern that RE2 can compile; simplify it";
  const fragment = error.getPattern() ?? "";
  if (/^\(\?<?[=!]/.test(fragment)) {
    return "uses lookahead or lookbehind, which RE2 does not have; say it with minLength, maxLength, enum or a plain pattern";
  }
  if (/^\\[1-9k]/.test(fragment)) {
    return `uses a back-reference (${fragment}), which RE2 does not have; write the alternatives out`;
  }
  if (error.getDescription() === "invalid repeat count") {
    return `has a repetition count over 1000 or the wrong way round (${fragment}); nested counts multiply`;
  }
  const where = fragment === "" ? "" : ` at ${fragment}`;
  return `is not valid RE2 syntax: ${error.getDescription()}${where}`;
}
