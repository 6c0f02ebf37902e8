/** Measures of a pattern, estimated from its text with the repetition counts written out. Nothing is compiled. */
export interface PatternMeasure {
  /**
   * An estimate of the size in instructions: a few hundred characters may stand for hundreds of thousands of them. RE2 makes at most two
   * instructions for each one counted here, and sometimes fewer than one.
   */
  readonly size: number;
  /** The number of classes with scripts or categories. Each has hundreds of ranges of characters. */
  readonly wide: number;
  /** The length of the longest match, in characters; infinite if it has no bound. */
  readonly length: number;
  /** True if every match begins at the beginning of the text. */
  readonly isAnchored: boolean;
}

/** The size that a class with a script or category is counted as. */
const WIDE = 4;

/** The measures that a repetition count multiplies. */
type Piece = Omit<PatternMeasure, "isAnchored">;

const NOTHING: Piece = { size: 0, wide: 0, length: 0 };

/** The part of a pattern that was read so far, at one level of groups, with its alternatives. */
class Part {
  #all: Piece;
  /** The longest match of the alternatives before the current one. */
  #longest = 0;
  #isAnchored = true;
  /** Whether the current alternative begins with an anchor; null before its first piece. */
  #begins: boolean | null = null;
  #last = NOTHING;
  #isFirst = false;

  constructor(size: number) {
    this.#all = { ...NOTHING, size };
  }

  add(piece: Piece, begins = false): void {
    this.#isFirst = this.#begins === null;
    this.#begins ??= begins;
    this.#last = piece;
    this.#all = sum(this.#all, piece);
  }

  /** Counts a repetition of the last piece, from `least` to `most` times, and `more` instructions for the repetition itself. */
  repeat(least: number, most: number, more = 0): void {
    const { size, wide, length } = this.#last;
    const written = Math.max(1, most === Infinity ? least : most);
    const added = {
      size: size * (written - 1) + more,
      wide: wide * (written - 1),
      length: length === 0 || most <= 1 ? 0 : length * (most - 1),
    };
    this.#last = sum(this.#last, added);
    this.#all = sum(this.#all, added);
    if (least === 0 && this.#isFirst) this.#begins = false;
  }

  alternate(): void {
    this.#end();
    this.#all = { ...this.#all, size: this.#all.size + 1, length: 0 };
  }

  measure(): PatternMeasure {
    this.#end();
    return { ...this.#all, length: this.#longest, isAnchored: this.#isAnchored };
  }

  #end(): void {
    this.#longest = Math.max(this.#longest, this.#all.length);
    this.#isAnchored &&= this.#begins === true;
    this.#begins = null;
    this.#isFirst = false;
    this.#last = NOTHING;
  }
}

export function measurePattern(source: string): PatternMeasure {
  let part = new Part(0);
  const outer: Part[] = [];
  for (const [token] of source.matchAll(TOKEN)) {
    const [, least, most] = REPETITION.exec(token) ?? [];
    if (least !== undefined) part.repeat(Number(least), Number((most ?? least) || Infinity));
    else if (/^[*+?]$/.test(token)) part.repeat(token === "+" ? 1 : 0, token === "?" ? 1 : Infinity, 1);
    else if (token === "|") part.alternate();
    else if (token.startsWith("(") && !token.endsWith(")")) {
      outer.push(part);
      part = new Part(2);
    } else if (token === ")") {
      const { isAnchored, ...group } = part.measure();
      part = outer.pop() ?? new Part(0);
      part.add(group, isAnchored);
    } else if (token.startsWith("(")) part.repeat(1, 1, 1);
    else part.add(pieceOf(token), token === "^" || token === "\\A");
  }
  const whole = part.measure();
  // A group that is never closed makes the pattern invalid, but it still counts.
  const size = outer.reduce((total, each) => total + each.measure().size, whole.size);
  // With the flag `m`, `^` matches at the beginning of every line.
  const isAnchored = whole.isAnchored && outer.length === 0 && !/\(\?[a-zA-Z]*m/.test(source);
  return { ...whole, size, isAnchored };
}

function pieceOf(token: string): Piece {
  if (token.startsWith("\\Q")) return { size: token.length, wide: 0, length: token.length };
  if (/\\[pP]/.test(token)) return { size: WIDE, wide: 1, length: 1 };
  return { size: 1, wide: 0, length: /^(?:[$^]|\\[AbBz])$/.test(token) ? 0 : 1 };
}

function sum(one: Piece, other: Piece): Piece {
  return {
    size: one.size + other.size,
    wide: one.wide + other.wide,
    length: one.length + other.length,
  };
}

const REPETITION = /^\{(\d+)(?:,(\d*))?\}$/;
/** Quoted text, an escape, a class, a group's beginning, a repetition count, any other character. */
const TOKEN =
  /\\Q[^]*?(?:\\E|$)|\\[pPx]\{[^}]*\}|\\p.|\\P.|\\[^]|\[\^?\]?(?:\\[^]|\[:\w+:\]|[^\]\\])*\]?|\((?:\?(?:P?<[^>]*>|[^:)]*[:)]))?|\{\d+(?:,\d*)?\}|[^]/gu;
