import { patternEngine } from "./pattern-engine.ts";
import { compileSearch } from "./pattern-search.ts";
import { measurePattern } from "./pattern-size.ts";

/** The longest source of a pattern, in UTF-16 units. */
export const MAX_PATTERN_LENGTH = 500;
/** The largest cost of all patterns of a schema, see {@link Pattern.cost}. Compiling them takes about 15 ms at worst. */
export const MAX_PATTERN_COST_IN_SCHEMA = 4000;
/** The largest size by {@link measurePattern}. A larger pattern is refused before it is compiled. */
const MAX_ESTIMATED_SIZE = 2 * MAX_PATTERN_COST_IN_SCHEMA;
/** Steps that compiling takes for each class with scripts or categories, besides its instruction: it has up to 800 ranges of characters. */
const STEPS_FOR_RANGES = 1.6;
/** Steps that parsing takes for each `\p` class in the source: it has hundreds of ranges. */
const STEPS_PER_WIDE_CLASS = 12;
/** The largest sum of {@link Pattern.cost} that the cache of compiled patterns holds: more than ten schemas of the largest size. */
const MAX_REMEMBERED_COST = 50_000;
/** The largest pattern, in RE2 instructions, that may be searched for in texts of any length. */
export const MAX_UNBOUNDED_PATTERN_SIZE = 48;
/** The characters of one submission that the search time is bounded for: the default limit of a body. */
const TEXT_LENGTH = 65_536;
/**
 * Limit of instructions times characters that the patterns of a schema may take for one submission. The worst patterns and texts that we
 * found take 30 ns of processor time for each, so a submission takes about 0.1 s at worst.
 */
const MAX_SEARCH_STEPS = MAX_UNBOUNDED_PATTERN_SIZE * TEXT_LENGTH;
/** The longest text, in UTF-16 units, that a large pattern still searches if the field's `maxLength` refuses the text anyway. */
export const MAX_REFUSED_TEXT_LENGTH = Math.floor(MAX_SEARCH_STEPS / MAX_PATTERN_COST_IN_SCHEMA);

export interface Pattern {
  /** True if every match begins at the beginning of the text. */
  readonly isAnchored: boolean;
  /** The number of UTF-16 units from the beginning of the text that decide whether it matches; infinite if it has no bound. */
  readonly reach: number;
  /** The number of RE2 instructions, which a search may execute for each character. */
  readonly size: number;
  /** Steps that compiling takes: the number of instructions, and more for classes with many ranges of characters, such as `\pL`. */
  readonly cost: number;
  /** Whether matching reads each character once, whatever the pattern's size. True for anchored, unambiguous patterns. */
  readonly isOnePass: boolean;
  matches(text: string): boolean;
}

/** A lower bound of {@link Pattern.cost}, found without compiling. */
export function leastCost(source: string): number {
  return STEPS_PER_WIDE_CLASS * (source.match(/\\p/gi)?.length ?? 0);
}

/** Checks and compiles a pattern that somebody sets. Returns a text that says what is wrong and what to do if it is refused. */
export function checkPattern(source: string): Pattern | string {
  if (source.length > MAX_PATTERN_LENGTH)
    return `is longer than ${MAX_PATTERN_LENGTH} characters; shorten it`;
  if (measurePattern(source).size > MAX_ESTIMATED_SIZE)
    return "is too large with its repetition counts written out; lower them, or bound lengths with maxLength";
  return compilePattern(source);
}

/**
 * Compiled patterns by their source. All schemas are compiled again when a setting changes, and while somebody types one. The least
 * recently used pattern is dropped first.
 */
const remembered = new Map<string, Pattern>();
let rememberedCost = 0;

/**
 * Compiles a pattern that was checked when it was set, or takes it from the cache. Returns a text that says what is wrong if RE2 refuses
 * it.
 */
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
    const compiled = patternEngine().RE2JS.compile(source);
    const size = compiled.programSize();
    const { wide, length, isAnchored } = measurePattern(source);
    const cost = size + leastCost(source) + Math.ceil(wide * STEPS_FOR_RANGES);
    // A character takes at most two units, and one more after the match shows whether the text continues.
    const reach = isAnchored ? 2 * (length + 1) : Infinity;
    const isOnePass = compiled.re2().onepass !== null;
    const matches = isOnePass ? (text: string) => compiled.test(text) : compileSearch(compiled, size, reach);
    return { isAnchored, reach, size, cost, isOnePass, matches };
  } catch (error) {
    return explainRefusal(error);
  }
}

/**
 * The longest text, in UTF-16 units, that a pattern still searches although the field's `maxLength` refuses the text. A refused text is
 * still checked for other problems, but only as far as that is quick.
 */
export function longestRefusedText({ isOnePass, size, reach }: Pattern): number {
  const isFast = isOnePass || size <= MAX_UNBOUNDED_PATTERN_SIZE || reach <= MAX_REFUSED_TEXT_LENGTH;
  return isFast ? Infinity : MAX_REFUSED_TEXT_LENGTH;
}

/** The longest text, in UTF-16 units, that a pattern may search if it is the only one of its schema. */
export function longestSearchedText({ size }: Pattern): number {
  return Math.floor(MAX_SEARCH_STEPS / size);
}

/** A pattern, and the largest number of characters of one submission that it reads: infinite for the items of an array. */
export interface PatternUse {
  readonly path: string;
  readonly pattern: Pattern;
  readonly textLength: number;
}

/** The largest of the patterns, if together they could delay one submission too long; undefined if they could not. */
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
  if (!(error instanceof patternEngine().RE2JSSyntaxException))
    return "is not a pattern that RE2 can compile; simplify it";
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
