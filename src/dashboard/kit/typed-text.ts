/*
 * Converts values of a schema to texts of inputs, and back. A value that an input cannot hold as it is (line breaks, control characters,
 * nothing at all, outer blanks) is shown as JSON text in quotes, and text in quotes is read as JSON.
 */

/** Matches control characters and outer blanks, which browsers change, and a quote at the start, which would be read as JSON. */
const NOT_PLAIN = /^$|^["\s]|\s$|[\u0000-\u001f]/;

/** The text for an input of one line. */
export function showText(value: string): string {
  return NOT_PLAIN.test(value) || !value.isWellFormed() ? JSON.stringify(value) : value;
}

export function readText(typed: string): string {
  const text = typed.trim();
  if (!text.startsWith('"')) return text;
  const value = tryJson(text);
  return typeof value === "string" ? value : text;
}

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** The number, or the text itself if it is no finite number, so that the schema's check reports it. */
export function readNumber(typed: string): number | string {
  const text = typed.trim();
  const number = NUMBER.test(text) ? Number(text) : Number.NaN;
  return Number.isFinite(number) ? number : text;
}

/** One value on each line. */
export function showLines(values: readonly unknown[]): string {
  return values
    .map((value) => (typeof value === "string" ? showText(value) : JSON.stringify(value)))
    .join("\n");
}

/** The lines that are not empty. */
export function readLines(typed: string): string[] {
  return typed
    .split(/\r\n|\n|\r/)
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

/** Undefined if the text is not JSON. */
export function tryJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
