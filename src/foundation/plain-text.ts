/**
 * C0 and C1 control characters and the marks that turn the direction of text. They are harmless in a file, but not on a terminal or a page.
 */
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const LINE_BREAKS = /[\t\n\v\f\r\u0085\u2028\u2029]+/g;

/** Makes text from outside safe to show in one line. */
export function plainText(text: string): string {
  return text.replace(LINE_BREAKS, " ").replace(UNSAFE, "");
}

/** Makes text from outside safe to show; line breaks and tabs stay. */
export function plainLines(text: string): string {
  return text
    .replace(/\r\n?|[\u0085\u2028\u2029]/g, "\n")
    .replace(UNSAFE, (char) => (char === "\n" || char === "\t" ? char : ""));
}

/** Makes text safe for a terminal; line breaks stay. */
export function terminalText(text: string): string {
  return text.replace(UNSAFE, (char) => (char === "\n" ? char : ""));
}

/** JSON in which every unsafe character is escaped, so that it can be shown on a terminal or on a page too. */
export function jsonText(value: unknown, indent?: number): string {
  const text = JSON.stringify(value, null, indent);
  return text.replace(UNSAFE, (char) =>
    char === "\n" ? char : `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
