/** What a class of a script or category counts, which has hundreds of ranges of characters. */
const WIDE = 4;

/** A part of a pattern up to here: its size, and that of its last piece, which a repetition count multiplies. */
interface Part {
  size: number;
  last: number;
}

/**
 * The size of a pattern with its repetition counts written out, without compiling it: a few hundred characters may stand for
 * hundreds of thousands of instructions. RE2 makes at most two instructions for each, and sometimes fewer than one.
 */
export function estimateSize(source: string): number {
  let part: Part = { size: 0, last: 0 };
  const outer: Part[] = [];
  const add = (size: number): void => {
    part.last = size;
    part.size += size;
  };
  for (const [token] of source.matchAll(TOKEN)) {
    const count = REPETITION.exec(token);
    if (count !== null) {
      const times = Math.max(1, Number(count[2] || count[1]));
      part.size += part.last * (times - 1);
      part.last *= times;
    } else if (token.startsWith("(") && !token.endsWith(")")) {
      outer.push(part);
      part = { size: 2, last: 0 };
    } else if (token === ")") {
      const { size } = part;
      part = outer.pop() ?? { size: 0, last: 0 };
      add(size);
    } else if (/^[*+?]$/.test(token)) {
      part.size += 1;
      part.last += 1;
    } else {
      add(/\\[pP]/.test(token) ? WIDE : token.startsWith("\\Q") ? token.length : 1);
    }
  }
  return outer.reduce((sum, { size }) => sum + size, part.size);
}

const REPETITION = /^\{(\d+)(?:,(\d*))?\}$/;
/** Quoted text, an escape, a class, a group's beginning, a repetition count, any other character. */
const TOKEN =
  /\\Q[^]*?(?:\\E|$)|\\[pPx]\{[^}]*\}|\\p.|\\P.|\\[^]|\[\^?\]?(?:\\[^]|\[:\w+:\]|[^\]\\])*\]?|\((?:\?(?:P?<[^>]*>|[^:)]*[:)]))?|\{\d+(?:,\d*)?\}|[^]/gu;
