import { RE2JS, RE2JSSyntaxException, RE2Set } from "re2js";

/** In UTF-16 units. */
export const MAX_PATTERN_LENGTH = 500;
/** RE2 instructions of one pattern; repetition counts multiply them. */
export const MAX_PATTERN_SIZE = 1000;
/** RE2 instructions of all patterns of a schema: compiling that many takes about half a second at worst. */
export const MAX_PATTERN_SIZE_IN_SCHEMA = 4000;
/**
 * Instructions times characters that one match may take. RE2's slowest engine does 60 million of these in a second,
 * so that the worst text of 64 KiB keeps a request waiting for about 0.1 s.
 */
const MAX_PATTERN_STEPS = 100 * 65_536;
/** The text length that a pattern must be ready for where the field has no `maxLength`: the default body limit. */
const DEFAULT_TEXT_LENGTH = 65_536;
/** Bytes of remembered states a pattern, by RE2's estimate; without room left it forgets and goes on, slower. */
const MAX_STATE_BYTES = 256 * 1024;

export interface Pattern {
  /** RE2 instructions. */
  readonly size: number;
  /** The longest text in UTF-16 units that is surely matched in time; infinite for patterns that need no search. */
  readonly safeTextLength: number;
  matches(text: string): boolean;
}

/** A compiled RE2 pattern, or a sentence that says what is wrong with the source and what to do. */
export function compilePattern(source: string): Pattern | string {
  if (source.length > MAX_PATTERN_LENGTH)
    return `is longer than ${MAX_PATTERN_LENGTH} characters; shorten it`;
  try {
    const compiled = RE2JS.compile(source);
    const size = compiled.programSize();
    if (size > MAX_PATTERN_SIZE) {
      return `compiles to ${size} steps, more than ${MAX_PATTERN_SIZE}; lower its repetition counts or bound the length with maxLength`;
    }
    if (compiled.re2().onepass !== null) {
      return { size, safeTextLength: Infinity, matches: (text) => compiled.test(text) };
    }
    const search = new RE2Set(RE2Set.UNANCHORED, 0, MAX_STATE_BYTES);
    search.add(source);
    search.compile();
    return {
      size,
      safeTextLength: Math.floor(MAX_PATTERN_STEPS / size),
      matches: (text) => search.match(text).length > 0,
    };
  } catch (error) {
    return explainRefusal(error);
  }
}

/** Why a pattern is too slow for texts of up to `maxLength`, and what to do; undefined where it is not. */
export function explainSlowness(pattern: Pattern, maxLength: number | undefined): string | undefined {
  if ((maxLength ?? DEFAULT_TEXT_LENGTH) <= pattern.safeTextLength) return undefined;
  return (
    `is too large (${pattern.size} steps) to be searched for in long texts; ` +
    `give the field a maxLength of at most ${pattern.safeTextLength}, anchor the pattern with ^ and $, or lower its repetition counts`
  );
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
