/**
 * The number of the line of a value in valid JSON, by its path of member names and array positions; the first line is 1. If the path does
 * not exist, the line of the nearest value around it.
 */
export function lineOfPath(json: string, path: readonly string[]): number {
  const tokens = [...json.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g)];
  let at = 0;
  for (const step of path) {
    const next = childOf(tokens, at, step);
    if (next === null) break;
    at = next;
  }
  return lineAt(json, tokens[at]?.index ?? 0);
}

type Tokens = readonly Readonly<RegExpExecArray>[];

/** The index of the first token of a child of an object or array; null if there is no such child. */
function childOf(tokens: Tokens, open: number, step: string): number | null {
  const isArray = tokens[open]?.[0] === "[";
  if (!isArray && tokens[open]?.[0] !== "{") return null;
  let position = 0;
  let at = open + 1;
  while (at < tokens.length && tokens[at]?.[0] !== "]" && tokens[at]?.[0] !== "}") {
    const value = isArray ? at : at + 2;
    const name = isArray ? String(position) : (JSON.parse(tokens[at]?.[0] ?? '""') as string);
    if (name === step) return value;
    at = endOf(tokens, value) + 1;
    if (tokens[at]?.[0] === ",") at += 1;
    position += 1;
  }
  return null;
}

/** The index of the last token of a value. */
function endOf(tokens: Tokens, start: number): number {
  let depth = 0;
  for (let at = start; at < tokens.length; at += 1) {
    const token = tokens[at]?.[0];
    if (token === "{" || token === "[") depth += 1;
    else if (token === "}" || token === "]") depth -= 1;
    if (depth === 0) return at;
  }
  return tokens.length - 1;
}

function lineAt(text: string, position: number): number {
  return text.slice(0, position).split("\n").length;
}
