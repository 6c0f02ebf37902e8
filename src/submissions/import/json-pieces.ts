import { yieldToOthers } from "../../database/slices.ts";

/*
 * JSON.parse takes 200 ns for a byte of `{"a":0},{"b":0},…`: 800 ms for 4 MiB, in which everybody else waits. Texts and numbers are fast.
 * So JSON is measured before it is parsed, and a list is parsed in pieces.
 */

/** The number of objects, lists and members after which a piece of a list ends. Such a piece takes 20 ms at most. */
const PIECE_MEMBERS = 8000;

const [QUOTE, BACKSLASH, COMMA, COLON] = [34, 92, 44, 58];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [91, 93, 123, 125];

/** The position after the text that begins at `start`; the end of `json` if it has no end. */
function endOfText(json: string, start: number): number {
  for (let quote = json.indexOf('"', start + 1); quote !== -1; quote = json.indexOf('"', quote + 1)) {
    let backslashes = 0;
    while (json.charCodeAt(quote - 1 - backslashes) === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return quote + 1;
  }
  return json.length;
}

/** Whether JSON has more objects, lists and members than this, in texts of it none. It need not be well-formed. */
export function hasMoreMembers(json: string, most: number): boolean {
  if (json.length <= most) return false;
  let members = 0;
  for (let at = 0; at < json.length && members <= most; at += 1) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) at = endOfText(json, at) - 1;
    else if (code === OPEN_LIST || code === OPEN_OBJECT || code === COLON) members += 1;
  }
  return members > most;
}

/** A part of a list: whole items with the commas between them. */
interface Piece {
  readonly json: string;
  /** The position after it. */
  readonly end: number;
  /** Whether the list ends there. */
  readonly isLast: boolean;
}

/** Finds the next piece of a list, which begins at `start`. Null if the list has no end; "large" if an item has more members than `most`. */
function nextPiece(json: string, start: number, most: number): Piece | "large" | null {
  let [depth, members] = [0, 0];
  for (let at = start; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) at = endOfText(json, at) - 1;
    else if (code === OPEN_LIST || code === OPEN_OBJECT) [depth, members] = [depth + 1, members + 1];
    else if (code === COLON) members += 1;
    else if (code === CLOSE_LIST || code === CLOSE_OBJECT) {
      if (depth === 0 && code === CLOSE_OBJECT) return null;
      if (depth === 0) return { json: json.slice(start, at), end: at + 1, isLast: true };
      depth -= 1;
    } else if (code === COMMA && depth === 0) {
      members += 1;
      if (members >= PIECE_MEMBERS) return { json: json.slice(start, at), end: at + 1, isLast: false };
    }
    if (members > most + PIECE_MEMBERS) return "large";
  }
  return null;
}

/** The items of a list of JSON, some at a time. All other work goes on between them. */
export interface ListPieces {
  /** @throws SyntaxError if the list is not JSON; RangeError if an item has too many objects, lists and members */
  readonly items: AsyncGenerator<readonly unknown[]>;
  /** Where the list ends. Known after the last item. */
  readonly end: () => number;
}

/** @param start the position after the bracket of the list. @param most the largest number of members of one item */
export function piecesOf(json: string, start: number, most: number): ListPieces {
  let end = start;
  async function* items(): AsyncGenerator<readonly unknown[]> {
    for (let isFirst = true, isLast = false; !isLast; isFirst = false) {
      const piece = nextPiece(json, end, most);
      if (piece === null) throw new SyntaxError("Unexpected end of JSON input");
      if (piece === "large") throw new RangeError("too many members");
      if (piece.json.trim() === "" && !(isFirst && piece.isLast))
        throw new SyntaxError("Unexpected token ','");
      [end, isLast] = [piece.end, piece.isLast];
      yield JSON.parse(`[${piece.json}]`) as unknown[];
      await yieldToOthers();
    }
  }
  return { items: items(), end: () => end };
}

/** The position after the bracket of the list in the last member of this name of an object; null if there is none. */
export function findListIn(json: string, name: string): number | null {
  let [depth, found]: [number, number | null] = [0, null];
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === OPEN_LIST || code === OPEN_OBJECT) depth += 1;
    else if (code === CLOSE_LIST || code === CLOSE_OBJECT) depth -= 1;
    if (code !== QUOTE) continue;
    const end = endOfText(json, at);
    if (depth === 1 && json.slice(at, end) === JSON.stringify(name)) {
      BEFORE_LIST.lastIndex = end;
      if (BEFORE_LIST.test(json)) found = BEFORE_LIST.lastIndex;
    }
    at = end - 1;
  }
  return found;
}

const BEFORE_LIST = /[ \t\r\n]*:[ \t\r\n]*\[/y;
