import { RE2JS, RE2JSSyntaxException } from "re2js";
import { findReach, type PatternReach } from "./pattern-reach.ts";
import { compileSearch } from "./pattern-search.ts";

/** In UTF-16 units. */
export const MAX_PATTERN_LENGTH = 500;
/** RE2 instructions of all patterns of a schema; repetition counts multiply them. Compiling takes half a second at worst. */
export const MAX_PATTERN_SIZE_IN_SCHEMA = 4000;
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
export const MAX_REFUSED_TEXT_LENGTH = Math.floor(MAX_SEARCH_STEPS / MAX_PATTERN_SIZE_IN_SCHEMA);

export interface Pattern extends PatternReach {
  /** RE2 instructions. */
  readonly size: number;
  /** Whether matching reads each character once, for any size of pattern. Anchored, unambiguous patterns do. */
  readonly isOnePass: boolean;
  matches(text: string): boolean;
}

/** A compiled RE2 pattern, or words that say what is wrong with the source and what to do. */
export function compilePattern(source: string): Pattern | string {
  if (source.length > MAX_PATTERN_LENGTH)
    return `is longer than ${MAX_PATTERN_LENGTH} characters; shorten it`;
  try {
    const compiled = RE2JS.compile(source);
    const size = compiled.programSize();
    const reach = findReach(compiled);
    if (compiled.re2().onepass !== null) {
      return { size, ...reach, isOnePass: true, matches: (text) => compiled.test(text) };
    }
    return { size, ...reach, isOnePass: false, matches: compileSearch(source, reach) };
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
