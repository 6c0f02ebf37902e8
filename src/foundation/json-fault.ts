/** Where and why a text is not JSON. Nothing of the text is in it, because a secret may stand there. */
export interface JsonFault {
  /** Both are counted from 1. */
  readonly line: number;
  readonly column: number;
  /** What is wrong, in the words of the engine. */
  readonly reason: string;
}

/** @param error what `JSON.parse` threw for this text, or for a part of it */
export function jsonFault(text: string, error: unknown): JsonFault {
  const before = text.slice(0, endOfJson(text));
  const line = before.split("\n").length;
  return { line, column: before.length - before.lastIndexOf("\n"), reason: reasonOf(error) };
}

/** Says it like `line 3, column 7: Unexpected token`. */
export function sayJsonFault(text: string, error: unknown): string {
  const { line, column, reason } = jsonFault(text, error);
  return `line ${line}, column ${column}: ${reason}`;
}

/** The engine ends its sentence with a position, or with an excerpt of the text. */
function reasonOf(error: unknown): string {
  const [reason = ""] = (error as Error).message.split(/(?: in JSON)? at position |, (?:\.{3})?"/);
  // A sentence of another kind, as a later engine may have, could show the text too.
  return /^[A-Z][\w ,.:'{}[\]-]{1,60}$/.test(reason) ? reason : "something else is expected here";
}

const BLANKS = /[ \t\r\n]*/y;
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const PLAIN = /[^"\\\u0000-\u001f]*/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y;

/** The index at which a text cannot go on as JSON; its length if it only breaks off. Any depth of nesting is possible. */
function endOfJson(text: string): number {
  /** The brackets that are open, each as the one that closes it. */
  const open: string[] = [];
  let state: "value" | "item" | "name" | "member" | "colon" | "next" = "value";
  for (let at = after(BLANKS, text, 0); at < text.length; at = after(BLANKS, text, at)) {
    const sign = text.charAt(at);
    const closes = sign === open.at(-1) && (state === "next" || state === "item" || state === "member");
    if (closes) {
      open.pop();
      state = "next";
      at += 1;
    } else if (state === "next") {
      if (sign !== "," || open.length === 0) return at;
      state = open.at(-1) === "}" ? "name" : "value";
      at += 1;
    } else if (state === "colon") {
      if (sign !== ":") return at;
      state = "value";
      at += 1;
    } else if (state === "name" || state === "member") {
      const end = sign === '"' ? endOfText(text, at) : { at, isWhole: false };
      if (!end.isWhole) return end.at;
      at = end.at;
      state = "colon";
    } else if (sign === "{" || sign === "[") {
      open.push(sign === "{" ? "}" : "]");
      state = sign === "{" ? "member" : "item";
      at += 1;
    } else {
      const end = sign === '"' ? endOfText(text, at) : endOfScalar(text, at);
      if (!end.isWhole) return end.at;
      at = end.at;
      state = "next";
    }
  }
  return text.length;
}

interface End {
  readonly at: number;
  readonly isWhole: boolean;
}

function endOfScalar(text: string, begin: number): End {
  const at = after(SCALAR, text, begin);
  return { at, isWhole: at > begin };
}

/** The end of the text that begins with this quote, or the place at which it cannot go on. */
function endOfText(text: string, begin: number): End {
  for (let at = begin + 1; ;) {
    at = after(PLAIN, text, at);
    if (text.charAt(at) === '"') return { at: at + 1, isWhole: true };
    const next = after(ESCAPE, text, at);
    if (next === at) return { at, isWhole: false };
    at = next;
  }
}

/** The index after what the pattern finds here; the index itself if it finds nothing. */
function after(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return at + (pattern.exec(text)?.[0].length ?? 0);
}
